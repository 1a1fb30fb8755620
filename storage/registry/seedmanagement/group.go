// SPDX-License-Identifier: Apache-2.0

// Package seedmanagement keeps the kinds of seedmanagement.gardener.cloud, one folder per kind.
package seedmanagement

import (
	genericapiserver "k8s.io/apiserver/pkg/server"

	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/seedmanagement/gardenlet"
	"github.com/terrarium-garden/terrarium/storage/registry/seedmanagement/managedseed"
	"github.com/terrarium-garden/terrarium/storage/registry/seedmanagement/managedseedset"
)

// Group builds the storage of seedmanagement.gardener.cloud. A new kind is one line.
func Group(o kind.Options) (*genericapiserver.APIGroupInfo, error) {
	// A Gardenlet and a ManagedSeed of one name exclude each other (API-RRM-13), as do two ManagedSeeds of a shoot (API-MS-1).
	turn := kind.NewTurn()

	return kind.NewGroup(o, gardenseedmanagementv1alpha1.GroupVersion,
		gardenlet.Storage(turn),
		managedseed.Storage(turn),
		managedseedset.Storage,
	)
}
