// SPDX-License-Identifier: Apache-2.0

// Package rewrite writes objects anew that are not stored as they would be stored now, for example because they are encrypted with
// a former key. Objects that are stored as they should be are not written.
package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// page is the number of objects that are read at a time.
const page = 500

// ErrUnknown says that a resource has no store.
var ErrUnknown = errors.New("its store is not known")

// Progress tells how much has been done.
type Progress struct {
	// Done is the number of objects that have been looked at, Total the number of those that are known so far.
	Done, Total int64
}

// Stores are the stores of some resources. They are known once the server is built.
type Stores struct {
	resources []schema.GroupResource

	mu  sync.Mutex
	all map[schema.GroupResource]store
}

// store is the store of a resource.
type store struct {
	storage.Interface

	prefix     string
	key        func(runtime.Object) (string, error)
	one, many  func() runtime.Object
	attributes storage.AttrFunc
}

// NewStores returns the stores of resources, which Getter finds.
func NewStores(resources ...schema.GroupResource) *Stores {
	return &Stores{resources: resources, all: map[schema.GroupResource]store{}}
}

// Getter wraps another getter, and remembers the stores that are made with it.
func (s *Stores) Getter(of generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return getter{RESTOptionsGetter: of, stores: s}
}

type getter struct {
	generic.RESTOptionsGetter

	stores *Stores
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g getter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	o, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil || !g.stores.wants(resource) {
		return o, err //nolint:wrapcheck // The caller is the library.
	}
	decorate := o.Decorator
	o.Decorator = func(
		config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error),
		one, many func() runtime.Object, attributes storage.AttrFunc, triggers storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		inner, destroy, err := decorate(config, prefix, key, one, many, attributes, triggers, indexers)
		if err == nil {
			g.stores.add(resource, store{Interface: inner, prefix: prefix, key: key, one: one, many: many, attributes: attributes})
		}

		return inner, destroy, err
	}

	return o, nil
}

func (s *Stores) wants(resource schema.GroupResource) bool {
	return slices.Contains(s.resources, resource)
}

func (s *Stores) add(resource schema.GroupResource, is store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[resource] = is
}

// Rewrite writes the objects of all resources anew that are not stored as they would be stored now. It can be interrupted and
// begun again. Objects that are created or changed meanwhile are stored as they should be anyway.
func (s *Stores) Rewrite(ctx context.Context, report func(Progress)) error {
	var is Progress
	for _, resource := range s.resources {
		s.mu.Lock()
		of, ok := s.all[resource]
		s.mu.Unlock()
		if !ok {
			return fmt.Errorf("rewrite %q: %w", resource, ErrUnknown)
		}
		if err := of.rewrite(ctx, &is, report); err != nil {
			return fmt.Errorf("rewrite %q: %w", resource, err)
		}
	}

	return nil
}

// rewrite reads the keys of all objects, and rewrites each object.
func (s store) rewrite(ctx context.Context, is *Progress, report func(Progress)) error {
	keys, err := s.keys(ctx)
	if err != nil {
		return err
	}
	is.Total += int64(len(keys))
	report(*is)
	for _, key := range keys {
		// The update changes nothing. So the store compares what it has with what it would write, and writes only what differs.
		err := s.GuaranteedUpdate(ctx, key, s.one(), false, nil,
			func(current runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
				return current.DeepCopyObject(), nil, nil
			}, nil)
		if err != nil && !storage.IsNotFound(err) {
			return fmt.Errorf("write %q: %w", key, err)
		}
		is.Done++
		report(*is)
	}

	return nil
}

// keys returns the keys of all objects.
func (s store) keys(ctx context.Context) ([]string, error) {
	var keys []string
	for next := ""; ; {
		list := s.many()
		err := s.GetList(ctx, s.prefix, storage.ListOptions{
			Recursive: true,
			Predicate: storage.SelectionPredicate{
				Label: labels.Everything(), Field: fields.Everything(), GetAttrs: s.attributes, Limit: page, Continue: next,
			},
		}, list)
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		err = meta.EachListItem(list, func(o runtime.Object) error {
			key, err := s.key(o)
			keys = append(keys, key)

			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		about, err := meta.ListAccessor(list)
		if err != nil {
			return nil, fmt.Errorf("list: %w", err)
		}
		if next = about.GetContinue(); next == "" {
			return keys, nil
		}
	}
}
