// SPDX-License-Identifier: Apache-2.0

package appliance

import (
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/snapshot"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Group builds the storage of the group.
func Group(o kind.Options, s timeline.Settings, snapshots snapshot.Keeper) (*genericapiserver.APIGroupInfo, error) {
	return kind.NewGroup(o, gardenappliancev1alpha1.GroupVersion, func(kind.Options) (map[string]rest.Storage, error) {
		kept := snapshot.NewStore(snapshots)

		return map[string]rest.Storage{
			"snapshots": kept, "snapshots/verification": snapshot.NewVerification(kept), "snapshots/" + snapshot.Downloading: snapshot.NewDownload(kept),
			"timelines": timeline.NewEntries(s), "timelinereports": timeline.NewReports(s),
		}, nil
	})
}
