// SPDX-License-Identifier: Apache-2.0

// Package seedclient identifies requests from a seed: from its gardenlet, or from an extension on it, which has a service
// account in the seed's namespace of the garden.
package seedclient

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

const (
	// NamespacePrefix is the prefix of the name of the namespace that each seed has in the garden.
	NamespacePrefix = "seed-"

	extensionPrefix = "extension-"
)

// Client is a client of a seed.
type Client struct {
	// Seed is the name of the seed.
	Seed string
	// Extension is set for extensions, which have fewer permissions than a gardenlet.
	Extension bool
}

// Namespace returns the namespace of the seed in the garden.
func (c Client) Namespace() string { return NamespacePrefix + c.Seed }

// Target returns the vertex of the seed in the graph.
func (c Client) Target() graph.Vertex { return graph.Vertex{Kind: graph.Seed, Name: c.Seed} }

// Who says which seed the client acts for.
func (c Client) Who() string { return fmt.Sprintf("seed %q", c.Seed) }

// Of returns the client of a seed for a user, and whether the user is one (GAC-ID-1, GAC-ID-3, GAC-ID-4).
func Of(who user.Info) (Client, bool) {
	if who == nil {
		return Client{}, false
	}
	name := who.GetName()
	if seed, ok := strings.CutPrefix(name, gardencorev1beta1.UserPrefixSeed); ok {
		return Client{Seed: seed}, seed != "" && slices.Contains(who.GetGroups(), gardencorev1beta1.GroupSeeds)
	}
	if !strings.HasPrefix(name, serviceaccount.ServiceAccountUsernamePrefix+NamespacePrefix) {
		return Client{}, false
	}
	namespace, account, err := serviceaccount.SplitUsername(name)
	if err != nil || !strings.HasPrefix(account, extensionPrefix) {
		return Client{}, false
	}
	seed := strings.TrimPrefix(namespace, NamespacePrefix)
	groups := who.GetGroups()
	genuine := slices.Contains(groups, serviceaccount.AllServiceAccountsGroup) &&
		slices.Contains(groups, serviceaccount.ServiceAccountGroupPrefix+namespace)

	return Client{Seed: seed, Extension: true}, seed != "" && genuine
}
