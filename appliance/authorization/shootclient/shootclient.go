// SPDX-License-Identifier: Apache-2.0

// Package shootclient identifies requests from the gardenlet of a self-hosted shoot, which runs its control plane on its own
// machines.
package shootclient

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// Client is a client of a shoot. Both fields are empty for a member of the group without the name of a shoot.
type Client struct{ Namespace, Name string }

// Of returns the client of a shoot for a user, and whether the user is one. All members of the group are clients of shoots,
// independent of their names (GAC-SHOOTR-1).
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

// Parse parses namespace and name of a shoot, separated by a colon. It returns an empty Client for any other text.
func Parse(shoot string) Client {
	namespace, name, ok := strings.Cut(shoot, ":")
	if !ok || namespace == "" || name == "" || strings.Contains(name, ":") {
		return Client{}
	}

	return Client{Namespace: namespace, Name: name}
}

// Is reports whether a namespace and name are those of the client's shoot.
func (c Client) Is(namespace, name string) bool {
	return c != Client{} && c.Namespace == namespace && c.Name == name
}

// Target returns the vertex of the shoot in the graph.
func (c Client) Target() graph.Vertex {
	return graph.Vertex{Kind: graph.Shoot, Namespace: c.Namespace, Name: c.Name}
}

// Who says which shoot the client acts for.
func (c Client) Who() string { return fmt.Sprintf("shoot %q", c) }

// Lease returns the name of the shoot's heartbeat lease, which is in its namespace (GCM-SEEDLIFE-6).
func (c Client) Lease() string { return gardencorev1beta1.LeasePrefixSelfHostedShoot + c.Name }

// String returns the user name of the shoot without the prefix.
func (c Client) String() string { return c.Namespace + ":" + c.Name }
