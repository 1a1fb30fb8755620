// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	controlplane "k8s.io/kubernetes/pkg/controlplane/apiserver"
	leasestorage "k8s.io/kubernetes/pkg/registry/coordination/lease/storage"
)

// leases is the group of leases. It keeps no owners of their fields until somebody applies a lease: gardenlets renew theirs all the time,
// and who owns which field is two thirds of the work of such a renewal, for nobody. The library tracks no owners of an object that has none.
type leases struct {
	controlplane.RESTStorageProvider
}

// NewRESTStorage implements controlplane.RESTStorageProvider.
func (l leases) NewRESTStorage(
	resources serverstorage.APIResourceConfigSource, options generic.RESTOptionsGetter,
) (genericapiserver.APIGroupInfo, error) {
	info, err := l.RESTStorageProvider.NewRESTStorage(resources, options)
	for _, storages := range info.VersionedResourcesStorageMap {
		for _, storage := range storages {
			store, ok := storage.(*leasestorage.REST)
			if !ok {
				continue
			}
			if plain, ok := store.CreateStrategy.(rest.RESTCreateUpdateStrategy); ok {
				store.CreateStrategy, store.UpdateStrategy = unowned{plain}, unowned{plain}
			}
		}
	}

	return info, err //nolint:wrapcheck // The caller is the library.
}

// unowned is a strategy that removes the owners of fields from objects that nobody applies.
type unowned struct {
	rest.RESTCreateUpdateStrategy
}

// PrepareForCreate implements rest.RESTCreateStrategy.
func (u unowned) PrepareForCreate(ctx context.Context, object runtime.Object) {
	u.RESTCreateUpdateStrategy.PrepareForCreate(ctx, object)
	disown(object)
}

// PrepareForUpdate implements rest.RESTUpdateStrategy.
func (u unowned) PrepareForUpdate(ctx context.Context, object, old runtime.Object) {
	u.RESTCreateUpdateStrategy.PrepareForUpdate(ctx, object, old)
	disown(object)
}

func disown(object runtime.Object) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return
	}
	applied := func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Operation == metav1.ManagedFieldsOperationApply
	}
	if !slices.ContainsFunc(accessor.GetManagedFields(), applied) {
		accessor.SetManagedFields(nil)
	}
}
