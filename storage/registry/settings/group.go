// SPDX-License-Identifier: Apache-2.0

// Package settings keeps the kinds of settings.gardener.cloud, one folder per kind.
package settings

import (
	genericapiserver "k8s.io/apiserver/pkg/server"

	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/settings/clusteropenidconnectpreset"
	"github.com/terrarium-garden/terrarium/storage/registry/settings/openidconnectpreset"
)

// Group builds the storage of settings.gardener.cloud. A new kind is one line.
func Group(o kind.Options) (*genericapiserver.APIGroupInfo, error) {
	return kind.NewGroup(o, gardensettingsv1alpha1.GroupVersion,
		clusteropenidconnectpreset.Storage,
		openidconnectpreset.Storage,
	)
}
