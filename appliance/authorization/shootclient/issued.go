// SPDX-License-Identifier: Apache-2.0

package shootclient

import (
	"maps"
	"strconv"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
)

// extraIssued is the extra of a user that says when the certificate of a gardenlet was issued, in seconds since 1970. Only the server sets
// it: no certificate and no token can contain it.
const extraIssued = "certificate.terrarium.garden/issued"

// Issued returns a user with the time at which its certificate was issued.
func Issued(who user.Info, at time.Time) user.Info {
	extra := maps.Clone(who.GetExtra())
	if extra == nil {
		extra = map[string][]string{}
	}
	extra[extraIssued] = []string{strconv.FormatInt(at.Unix(), 10)}

	return &user.DefaultInfo{Name: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: extra}
}

// Former reports whether the certificate of a user is older than the shoot of this name, so that it is one of a former shoot, which may have
// belonged to somebody else. Certificates have whole seconds, as have the times at which objects were created. A user without a certificate
// is impersonated by an administrator.
func Former(who user.Info, created time.Time) bool {
	values, ok := who.GetExtra()[extraIssued]
	if !ok {
		return false
	}
	if len(values) != 1 {
		return true
	}
	at, err := strconv.ParseInt(values[0], 10, 64)

	return err != nil || at < created.Unix()
}
