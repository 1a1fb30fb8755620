// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"

	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/operator/garden"
)

// Group builds the storage of operator.gardener.cloud.
func Group(o kind.Options) (*genericapiserver.APIGroupInfo, error) {
	resources, err := garden.Storage(o)
	if err != nil {
		return nil, fmt.Errorf("group %q: %w", gardenoperatorv1alpha1.GroupName, err)
	}
	info := genericapiserver.NewDefaultAPIGroupInfo(gardenoperatorv1alpha1.GroupName, o.Scheme, o.ParameterCodec, o.Codecs)
	info.VersionedResourcesStorageMap[gardenoperatorv1alpha1.GroupVersion.Version] = resources
	return &info, nil
}
