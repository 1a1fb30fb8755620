// SPDX-License-Identifier: Apache-2.0

package revoked

import (
	"strings"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

// SeedOf returns the seed that a user acts for. It is wider than what gives permissions to a seed: groups do not matter, and neither
// does the name of a service account in the namespace of the seed.
func SeedOf(who user.Info) (seed string, ok bool) {
	if who == nil {
		return "", false
	}
	name := who.GetName()
	if seed, ok := strings.CutPrefix(name, gardencorev1beta1.UserPrefixSeed); ok {
		return seed, seed != ""
	}
	namespace, account, err := serviceaccount.SplitUsername(name)
	if err != nil {
		return "", false
	}
	if seed, ok := strings.CutPrefix(namespace, seedclient.NamespacePrefix); ok {
		return seed, seed != ""
	}
	if seed, ok := strings.CutPrefix(account, jointoken.AccountPrefix); ok && namespace == gardencorev1beta1.NamespaceGarden {
		return seed, seed != ""
	}

	return "", false
}
