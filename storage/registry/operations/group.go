// SPDX-License-Identifier: Apache-2.0

// Package operations keeps the kinds of operations.gardener.cloud, one folder per kind.
package operations

import (
	genericapiserver "k8s.io/apiserver/pkg/server"

	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/operations/bastion"
)

// Group builds the storage of operations.gardener.cloud. A new kind is one line.
func Group(o kind.Options) (*genericapiserver.APIGroupInfo, error) {
	return kind.NewGroup(o, gardenoperationsv1alpha1.GroupVersion,
		bastion.Storage,
	)
}
