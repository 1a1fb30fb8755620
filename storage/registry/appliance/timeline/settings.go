// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// Settings are what the resources of this package need. All fields are required.
type Settings struct {
	// Store keeps the entries, Recorder adds those of the server.
	Store    *timeline.Store
	Recorder *Recorder
	// Authorizer says who may read the objects, and with them their timelines.
	Authorizer authorizer.Authorizer
	// Client returns the client of a seed, and false for other users.
	Client func(user.Info) (Client, bool)
	// Born returns when a namespace was created. What is older belongs to a namespace of the same name that somebody else may have
	// had. It returns the zero time for a namespace that does not exist.
	Born func(ctx context.Context, namespace string) (time.Time, error)
	// Objects have the stores of the objects with timelines, by the names of their kinds.
	Objects map[string]rest.Getter
	// Clock is the clock for reports.
	Clock clock.Clock
}

// Client is a client of a seed.
type Client struct {
	// Seed is the name of the seed.
	Seed string
	// Gardenlet says that the client is the gardenlet of the seed, and not an extension.
	Gardenlet bool
}

// Objects finds the stores of the objects with timelines in the groups of a server.
func Objects(groups []*genericapiserver.APIGroupInfo) map[string]rest.Getter {
	found := map[string]rest.Getter{}
	for _, group := range groups {
		for _, storages := range group.VersionedResourcesStorageMap {
			for kind, resource := range kinds() {
				if group.PrioritizedVersions[0].Group != resource.Group {
					continue
				}
				if objects, ok := storages[resource.Resource].(rest.Getter); ok {
					found[kind] = objects
				}
			}
		}
	}

	return found
}
