// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	genericapi "k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/kube-openapi/pkg/builder3"
	openapimodels "k8s.io/kube-openapi/pkg/util"

	"github.com/terrarium-garden/terrarium/appliance/apiserver/fieldtypes"
)

// installGroups serves the groups of the garden. It is to a server what InstallAPIGroups of the library is, which has no place for
// a converter of types of one's own.
func (g *gardenServer) installGroups(into *genericapiserver.GenericAPIServer) error {
	types, err := g.fieldTypes()
	if err != nil {
		return err
	}
	for _, group := range g.groups {
		if err := g.installGroup(into, group, types); err != nil {
			return fmt.Errorf("install group %s: %w", group.PrioritizedVersions[0].Group, err)
		}
	}

	return nil
}

// fieldTypes returns the types of the fields of all kinds, as managed fields need them.
func (g *gardenServer) fieldTypes() (managedfields.TypeConverter, error) {
	var models []string
	for _, group := range g.groups {
		for version, storages := range served(group) {
			names, err := g.models(version, storages)
			if err != nil {
				return nil, err
			}
			models = append(models, names...)
		}
	}
	schemas, err := builder3.BuildOpenAPIDefinitionsForResources(g.generic.OpenAPIV3Config, models...)
	if err != nil {
		return nil, fmt.Errorf("build models of the garden's kinds: %w", err)
	}
	types, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		return nil, fmt.Errorf("build types of the garden's fields: %w", err)
	}

	return fieldtypes.Lazy(types), nil
}

// models returns the names of the models of the kinds in a version of a group.
func (g *gardenServer) models(version schema.GroupVersion, storages map[string]rest.Storage) ([]string, error) {
	var names []string
	for resource, storage := range storages {
		kind, err := genericapi.GetResourceKind(version, storage, g.options.Scheme)
		if err != nil {
			return nil, fmt.Errorf("find kind of %s in %s: %w", resource, version, err)
		}
		sample, err := g.options.Scheme.New(kind)
		if err != nil {
			return nil, fmt.Errorf("find type of %s: %w", kind, err)
		}
		names = append(names, openapimodels.GetCanonicalTypeName(sample))
	}

	return names, nil
}

// served returns the storages of the versions of a group that have any.
func served(group *genericapiserver.APIGroupInfo) map[schema.GroupVersion]map[string]rest.Storage {
	storages := map[schema.GroupVersion]map[string]rest.Storage{}
	for _, version := range group.PrioritizedVersions {
		if of := group.VersionedResourcesStorageMap[version.Version]; len(of) > 0 {
			storages[version] = of
		}
	}

	return storages
}

// installGroup serves a group with its versions in the order of their priority, and lists it for discovery.
func (g *gardenServer) installGroup(
	into *genericapiserver.GenericAPIServer, group *genericapiserver.APIGroupInfo, types managedfields.TypeConverter,
) error {
	preferred := group.PrioritizedVersions[0]
	listed := metav1.APIGroup{
		Name:             preferred.Group,
		PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: preferred.String(), Version: preferred.Version},
	}
	storages := served(group)
	for _, version := range group.PrioritizedVersions {
		if len(storages[version]) == 0 {
			continue
		}
		endpoints := g.endpoints(into, group, version)
		endpoints.Storage, endpoints.TypeConverter = storages[version], types
		resources, _, err := endpoints.InstallREST(into.Handler.GoRestfulContainer)
		if err != nil {
			return fmt.Errorf("serve version %s: %w", version.Version, err)
		}
		into.AggregatedDiscoveryGroupManager.AddGroupVersion(version.Group, apidiscoveryv2.APIVersionDiscovery{
			Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent, Version: version.Version, Resources: resources,
		})
		listed.Versions = append(listed.Versions, metav1.GroupVersionForDiscovery{GroupVersion: version.String(), Version: version.Version})
	}
	into.DiscoveryGroupManager.AddGroup(listed)
	into.Handler.GoRestfulContainer.Add(discovery.NewAPIGroupHandler(into.Serializer, listed).WebService())
	closeStorages(into, storages)

	return nil
}

// endpoints describes what the version of a group has in common for all of its resources.
func (g *gardenServer) endpoints(
	into *genericapiserver.GenericAPIServer, group *genericapiserver.APIGroupInfo, version schema.GroupVersion,
) *genericapi.APIGroupVersion {
	kinds := group.Scheme
	versions := map[string][]string{}
	for of, storages := range served(group) {
		for resource := range storages {
			versions[resource] = append(versions[resource], of.String())
		}
	}

	return &genericapi.APIGroupVersion{
		Root:                        genericapiserver.APIGroupPrefix,
		GroupVersion:                version,
		AllServedVersionsByResource: versions,
		OptionsExternalVersion:      group.OptionsExternalVersion,
		MetaGroupVersion:            group.MetaGroupVersion,
		Serializer:                  group.NegotiatedSerializer,
		ParameterCodec:              group.ParameterCodec,
		Typer:                       kinds,
		Creater:                     kinds, //nolint:misspell // The library spells it so.
		Convertor:                   kinds,
		ConvertabilityChecker:       kinds,
		UnsafeConvertor:             runtime.UnsafeObjectConvertor(kinds),
		Defaulter:                   kinds,
		Namer:                       runtime.Namer(meta.NewAccessor()),
		EquivalentResourceRegistry:  into.EquivalentResourceRegistry,
		Authorizer:                  into.Authorizer,
		Admit:                       g.generic.AdmissionControl,
		MinRequestTimeout:           time.Duration(g.generic.MinRequestTimeout) * time.Second,
		MaxRequestBodyBytes:         g.generic.MaxRequestBodyBytes,
	}
}

// closeStorages registers what is done with storages as a whole: the server is ready once they are, and destroys them when it ends.
func closeStorages(into *genericapiserver.GenericAPIServer, storages map[schema.GroupVersion]map[string]rest.Storage) {
	for version, of := range storages {
		for resource, storage := range of {
			into.RegisterDestroyFunc(storage.Destroy)
			if awaited, ok := storage.(rest.StorageWithReadiness); ok {
				into.StorageReadinessHook.RegisterStorage(metav1.GroupVersionResource(version.WithResource(resource)), awaited)
			}
		}
	}
}
