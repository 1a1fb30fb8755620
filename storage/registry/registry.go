// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/terrarium-garden/terrarium/storage/registry/core"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/operations"
	"github.com/terrarium-garden/terrarium/storage/registry/security"
	"github.com/terrarium-garden/terrarium/storage/registry/seedmanagement"
	"github.com/terrarium-garden/terrarium/storage/registry/settings"
)

// Groups builds the storage of every API group that the garden serves, ready to be installed in an API server.
func Groups(o kind.Options) ([]*genericapiserver.APIGroupInfo, error) {
	builders := []func(kind.Options) (*genericapiserver.APIGroupInfo, error){
		core.Group,
		seedmanagement.Group,
		operations.Group,
		security.Group,
		settings.Group,
	}
	groups := make([]*genericapiserver.APIGroupInfo, 0, len(builders))
	for _, build := range builders {
		group, err := build(o)
		if err != nil {
			return nil, fmt.Errorf("build storage: %w", err)
		}
		groups = append(groups, group)
	}
	return groups, nil
}
