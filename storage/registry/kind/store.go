// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/client-go/tools/cache"
)

// Store serves the main resource of a kind.
type Store struct {
	*genericregistry.Store

	names Names
}

// Destroy closes the store's connections.
func (s *Store) Destroy() { s.Store.Destroy() }

// ShortNames are accepted by kubectl in place of the resource name.
func (s *Store) ShortNames() []string { return s.names.ShortNames }

// Categories are the groups of resources, such as "all", that the resource belongs to.
func (s *Store) Categories() []string { return s.names.Categories }

// NewStore builds the store of the main resource and, where the kind has one, that of its status.
func NewStore[T Object](o Options, rules Rules[T]) (*Store, *PartStore, error) {
	s := strategy[T]{ObjectTyper: o.Scheme, NameGenerator: names.SimpleNameGenerator, rules: rules}
	store := &genericregistry.Store{
		NewFunc:                   func() runtime.Object { return rules.New() },
		NewListFunc:               rules.NewList,
		DefaultQualifiedResource:  rules.GroupVersion.WithResource(rules.Plural).GroupResource(),
		SingularQualifiedResource: rules.GroupVersion.WithResource(rules.Singular).GroupResource(),
		PredicateFunc:             predicate(rules),
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		TableConvertor:            table[T]{columns: rules.Columns},
	}
	storeOptions := &generic.StoreOptions{
		RESTOptions: o.RESTOptionsGetter,
		AttrFunc:    attributes(rules),
		Indexers:    indexers(rules),
	}
	if err := store.CompleteWithOptions(storeOptions); err != nil {
		return nil, nil, fmt.Errorf("complete store of %q: %w", rules.Plural, err)
	}
	main := &Store{Store: store, names: rules.Names}
	if rules.Status == nil {
		return main, nil, nil
	}
	return main, part(store, statusStrategy[T]{s}), nil
}

// updateStrategy is what a part of an object is written by.
type updateStrategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// NewPart builds a further subresource that writes another part of the same object, such as shoots/binding: prepare
// decides which changes are kept, validate judges them.
func NewPart[T Object](main *Store, rules Rules[T]) *PartStore {
	strategy := strategy[T]{ObjectTyper: main.CreateStrategy, NameGenerator: names.SimpleNameGenerator, rules: rules}
	return part(main.Store, strategy)
}

func part(main *genericregistry.Store, s updateStrategy) *PartStore {
	store := *main
	store.CreateStrategy = nil
	store.DeleteStrategy = nil
	store.UpdateStrategy = s
	store.ResetFieldsStrategy = s
	return &PartStore{store: &store}
}

func attributes[T Object](rules Rules[T]) storage.AttrFunc {
	return func(obj runtime.Object) (labels.Set, fields.Set, error) {
		o, ok := obj.(T)
		if !ok {
			return nil, nil, fmt.Errorf("select %q: %T is another kind", rules.Plural, obj)
		}
		return o.GetLabels(), selectable(rules, o), nil
	}
}

func selectable[T Object](rules Rules[T], obj T) fields.Set {
	set := fields.Set{"metadata.name": obj.GetName()}
	if rules.Namespaced {
		set["metadata.namespace"] = obj.GetNamespace()
	}
	if rules.Fields != nil {
		maps.Copy(set, rules.Fields(obj))
	}
	return set
}

func predicate[T Object](rules Rules[T]) func(labels.Selector, fields.Selector) storage.SelectionPredicate {
	return func(label labels.Selector, field fields.Selector) storage.SelectionPredicate {
		return storage.SelectionPredicate{
			Label:       label,
			Field:       field,
			GetAttrs:    attributes(rules),
			IndexFields: rules.Indexes,
		}
	}
}

func indexers[T Object](rules Rules[T]) *cache.Indexers {
	all := cache.Indexers{}
	for _, name := range rules.Indexes {
		all[storage.FieldIndex(name)] = func(obj any) ([]string, error) {
			o, ok := obj.(T)
			if !ok {
				return nil, fmt.Errorf("index %q by %q: %T is another kind", rules.Plural, name, obj)
			}
			return []string{rules.Fields(o)[name]}, nil
		}
	}
	return &all
}
