// SPDX-License-Identifier: Apache-2.0

// Package observe tells of each change of an object that was written, with the context of the request that made it. It sees what
// the store of objects sees, so no way of writing goes past it: subresources, finalizers and deletions included, dry runs not.
package observe

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// Func is told of a change that was written. Before is nil for a new object, after for one that was removed. It must return soon,
// because the request waits for it, and must not change the objects.
type Func func(ctx context.Context, before, after runtime.Object)

// Getter wraps another getter: the stores of the given resources tell of their changes.
func Getter(of generic.RESTOptionsGetter, changed Func, resources ...schema.GroupResource) generic.RESTOptionsGetter {
	g := getter{RESTOptionsGetter: of, changed: changed, resources: map[schema.GroupResource]bool{}}
	for _, resource := range resources {
		g.resources[resource] = true
	}

	return g
}

type getter struct {
	generic.RESTOptionsGetter

	changed   Func
	resources map[schema.GroupResource]bool
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g getter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	o, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil || !g.resources[resource] {
		return o, err
	}
	decorate := o.Decorator
	o.Decorator = func(
		config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error),
		one, many func() runtime.Object, attributes storage.AttrFunc, triggers storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		inner, destroy, err := decorate(config, prefix, key, one, many, attributes, triggers, indexers)
		if err != nil {
			return nil, destroy, err
		}

		return &store{Interface: inner, changed: g.changed}, destroy, nil
	}

	return o, nil
}

type store struct {
	storage.Interface

	changed Func
}

// Create implements storage.Interface.
func (s *store) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	err := s.Interface.Create(ctx, key, obj, out, ttl)
	if err == nil {
		s.changed(ctx, nil, out)
	}

	return err
}

// Delete implements storage.Interface.
//
//nolint:revive // the seven parameters are those of storage.Interface
func (s *store) Delete(
	ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, cached runtime.Object, o storage.DeleteOptions,
) error {
	err := s.Interface.Delete(ctx, key, out, preconditions, validate, cached, o)
	if err == nil {
		s.changed(ctx, out, nil)
	}

	return err
}

// GuaranteedUpdate implements storage.Interface.
//
//nolint:revive // the seven parameters are those of storage.Interface
func (s *store) GuaranteedUpdate(
	ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, update storage.UpdateFunc, cached runtime.Object,
) error {
	var before runtime.Object
	err := s.Interface.GuaranteedUpdate(ctx, key, out, ignoreNotFound, preconditions,
		func(current runtime.Object, about storage.ResponseMeta) (runtime.Object, *uint64, error) {
			before = kept(current) // That of the last attempt counts, which is the one that was written.

			return update(current, about)
		}, cached)
	if err == nil {
		s.changed(ctx, before, out)
	}

	return err
}

// kept returns the object as it is before an update, or nil for the empty object from which an update creates one, as server-side apply
// does. The library marks an object as one in deletion in place; what the fields point to it replaces, so they are shared.
func kept(obj runtime.Object) runtime.Object {
	if o, err := meta.Accessor(obj); err != nil || o.GetResourceVersion() == "" {
		return nil
	}
	from := reflect.ValueOf(obj)
	if from.Kind() != reflect.Pointer {
		return obj
	}
	to := reflect.New(from.Type().Elem())
	to.Elem().Set(from.Elem())
	shallow, _ := reflect.TypeAssert[runtime.Object](to)

	return shallow
}
