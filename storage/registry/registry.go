// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/snapshot"
	"github.com/terrarium-garden/terrarium/storage/registry/appliance/timeline"
	"github.com/terrarium-garden/terrarium/storage/registry/core"
	"github.com/terrarium-garden/terrarium/storage/registry/core/shoot"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/operations"
	"github.com/terrarium-garden/terrarium/storage/registry/operator"
	"github.com/terrarium-garden/terrarium/storage/registry/security"
	"github.com/terrarium-garden/terrarium/storage/registry/security/workloadidentity"
	"github.com/terrarium-garden/terrarium/storage/registry/seedmanagement"
	"github.com/terrarium-garden/terrarium/storage/registry/settings"
)

// Settings are those of single kinds.
type Settings struct {
	// Shoots are those of shoots.
	Shoots shoot.Settings
	// Tokens signs the tokens of workload identities.
	Tokens workloadidentity.TokenSigner
	// Timeline are the settings of timelines, without Objects.
	Timeline timeline.Settings
	// Snapshots keeps the snapshots of the garden; nil if it takes none.
	Snapshots snapshot.Keeper
}

// Groups builds the storage of every API group that the garden serves, ready to be installed in an API server.
func Groups(o kind.Options, s Settings) ([]*genericapiserver.APIGroupInfo, error) {
	first, err := core.Group(o, s.Shoots)
	if err != nil {
		return nil, fmt.Errorf("build storage: %w", err)
	}
	builders := []func(kind.Options) (*genericapiserver.APIGroupInfo, error){
		seedmanagement.Group,
		operations.Group,
		func(o kind.Options) (*genericapiserver.APIGroupInfo, error) {
			return security.Group(o, s.Tokens, first.VersionedResourcesStorageMap[gardencorev1beta1.GroupVersion.Version])
		},
		settings.Group,
		operator.Group,
	}
	groups := []*genericapiserver.APIGroupInfo{first}
	for _, build := range builders {
		group, err := build(o)
		if err != nil {
			return nil, fmt.Errorf("build storage: %w", err)
		}
		groups = append(groups, group)
	}
	s.Timeline.Objects = timeline.Objects(groups)
	group, err := appliance.Group(o, s.Timeline, s.Snapshots)
	if err != nil {
		return nil, fmt.Errorf("build storage: %w", err)
	}
	return append(groups, group), nil
}
