// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// NewGroup builds a group with one version from its kinds.
func NewGroup(
	o Options, version schema.GroupVersion, kinds ...func(Options) (map[string]rest.Storage, error),
) (*genericapiserver.APIGroupInfo, error) {
	resources := map[string]rest.Storage{}
	for _, build := range kinds {
		some, err := build(o)
		if err != nil {
			return nil, fmt.Errorf("group %q: %w", version.Group, err)
		}
		maps.Copy(resources, some)
	}
	info := genericapiserver.NewDefaultAPIGroupInfo(version.Group, o.Scheme, o.ParameterCodec, o.Codecs)
	info.VersionedResourcesStorageMap[version.Version] = resources
	return &info, nil
}
