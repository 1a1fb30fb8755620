// SPDX-License-Identifier: Apache-2.0

// Package shootclient tells which requests come from the gardenlet of a self-hosted shoot: one that runs its control plane
// on machines of its own.
package shootclient

import (
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// LeasePrefix starts the name of the lease with which such a gardenlet says that it is there (GCM-SEEDLIFE-6).
const LeasePrefix = "self-hosted-shoot-"

// Client is who acts for a shoot. A member of the group without the name of a shoot is a client of none: both are empty.
type Client struct{ Namespace, Name string }

// Of returns the client of a shoot that a user is. Whoever is in the group is one, whatever its name: the group is for
// nobody else (GAC-SHOOTR-1).
func Of(who user.Info) (Client, bool) {
	if who == nil || !slices.Contains(who.GetGroups(), gardencorev1beta1.GroupShoots) {
		return Client{}, false
	}
	shoot, ok := strings.CutPrefix(who.GetName(), gardencorev1beta1.UserPrefixShoot)
	if !ok {
		return Client{}, true
	}

	return Parse(shoot), true
}

// Parse reads namespace and name of a shoot, with a colon between them. What is no such text names no shoot.
func Parse(shoot string) Client {
	namespace, name, ok := strings.Cut(shoot, ":")
	if !ok || namespace == "" || name == "" || strings.Contains(name, ":") {
		return Client{}
	}

	return Client{Namespace: namespace, Name: name}
}

// Is reports whether namespace and name are those of the client's shoot.
func (c Client) Is(namespace, name string) bool {
	return c != Client{} && c.Namespace == namespace && c.Name == name
}

// String is how users are named after the shoot, without the prefix.
func (c Client) String() string { return c.Namespace + ":" + c.Name }
