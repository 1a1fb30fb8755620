// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"maps"

	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/core/backupbucket"
	"github.com/terrarium-garden/terrarium/storage/registry/core/backupentry"
	"github.com/terrarium-garden/terrarium/storage/registry/core/cloudprofile"
	"github.com/terrarium-garden/terrarium/storage/registry/core/controllerdeployment"
	"github.com/terrarium-garden/terrarium/storage/registry/core/controllerinstallation"
	"github.com/terrarium-garden/terrarium/storage/registry/core/controllerregistration"
	"github.com/terrarium-garden/terrarium/storage/registry/core/exposureclass"
	"github.com/terrarium-garden/terrarium/storage/registry/core/internalsecret"
	"github.com/terrarium-garden/terrarium/storage/registry/core/namespacedcloudprofile"
	"github.com/terrarium-garden/terrarium/storage/registry/core/plant"
	"github.com/terrarium-garden/terrarium/storage/registry/core/project"
	"github.com/terrarium-garden/terrarium/storage/registry/core/quota"
	"github.com/terrarium-garden/terrarium/storage/registry/core/secretbinding"
	"github.com/terrarium-garden/terrarium/storage/registry/core/seed"
	"github.com/terrarium-garden/terrarium/storage/registry/core/shoot"
	"github.com/terrarium-garden/terrarium/storage/registry/core/shootstate"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Group builds the storage of core.gardener.cloud. A new kind is one line.
func Group(o kind.Options, shoots shoot.Settings) (*genericapiserver.APIGroupInfo, error) {
	secrets, err := internalsecret.Storage(o)
	if err != nil {
		return nil, fmt.Errorf("group %q: %w", gardencorev1beta1.GroupName, err)
	}
	v1beta1, err := resources(o,
		backupbucket.Storage,
		backupentry.Storage,
		cloudprofile.Storage,
		controllerdeployment.Storage,
		controllerinstallation.Storage,
		controllerregistration.Storage,
		exposureclass.Storage,
		namespacedcloudprofile.Storage,
		plant.Storage,
		project.Storage,
		quota.Storage,
		secretbinding.Storage,
		seed.Storage,
		shootstate.Storage,
		func(o kind.Options) (map[string]rest.Storage, error) { return shoot.Storage(o, shoots, secrets) },
	)
	if err != nil {
		return nil, fmt.Errorf("group %q: %w", gardencorev1beta1.GroupName, err)
	}
	v1beta1["internalsecrets"] = secrets
	info := genericapiserver.NewDefaultAPIGroupInfo(gardencorev1beta1.GroupName, o.Scheme, o.ParameterCodec, o.Codecs)
	info.VersionedResourcesStorageMap[gardencorev1beta1.GroupVersion.Version] = v1beta1
	info.VersionedResourcesStorageMap[gardencorev1.GroupVersion.Version] = map[string]rest.Storage{
		"controllerdeployments": v1beta1["controllerdeployments"],
	}
	return &info, nil
}

func resources(
	o kind.Options, builders ...func(kind.Options) (map[string]rest.Storage, error),
) (map[string]rest.Storage, error) {
	all := map[string]rest.Storage{}
	for _, build := range builders {
		some, err := build(o)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, some)
	}
	return all, nil
}
