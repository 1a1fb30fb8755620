// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
)

// timelineSettings configures who reads timelines, and who reports.
func (c *completed) timelineSettings(recorder *timeline.Recorder, readers authorizer.Authorizer) timeline.Settings {
	return timeline.Settings{
		Store: c.Timeline, Recorder: recorder, Authorizer: readers, Clock: c.Clock,
		Client: func(who user.Info) (timeline.Client, bool) {
			client, ok := seedclient.Of(who)

			return timeline.Client{Seed: client.Seed, Gardenlet: !client.Extension}, ok
		},
	}
}
