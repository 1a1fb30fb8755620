// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/names"
)

// Store serves the main resource of a kind.
type Store struct {
	*genericregistry.Store

	names Names
	turn  Turn
}

// DeleteCollection deletes what matches, after each object was judged: when admission refuses one of them, none is
// deleted (API-ADM-5, API-DELCONF-2).
func (s *Store) DeleteCollection(
	ctx context.Context, validate rest.ValidateObjectFunc, o *metav1.DeleteOptions, matching *metainternalversion.ListOptions,
) (runtime.Object, error) {
	if validate != nil {
		if err := s.judge(ctx, validate, matching); err != nil {
			return nil, err
		}
	}
	return s.Store.DeleteCollection(ctx, validate, o, matching)
}

// judge asks admission about every object and joins all refusals in one.
func (s *Store) judge(
	ctx context.Context, validate rest.ValidateObjectFunc, matching *metainternalversion.ListOptions,
) error {
	all, err := s.List(ctx, matching)
	if err != nil {
		return err
	}
	var refusals []error
	err = meta.EachListItem(all, func(obj runtime.Object) error {
		err := validate(ctx, obj)
		if !apierrors.IsForbidden(err) {
			return err
		}
		refusals = append(refusals, bare(err))
		return nil
	})
	if err != nil || len(refusals) == 0 {
		return err
	}
	return apierrors.NewForbidden(s.DefaultQualifiedResource, "", errors.Join(refusals...))
}

// bare is the reason in a refusal, without the words about the resource that each of them begins with.
func bare(err error) error {
	if _, reason, found := strings.Cut(err.Error(), " is forbidden: "); found {
		return errors.New(reason)
	}
	return err
}

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
		TableConvertor:            newTable(rules.Columns),
	}
	main := &Store{Store: store, names: rules.Names, turn: rules.Turn}
	storeOptions := &generic.StoreOptions{
		RESTOptions: o.RESTOptionsGetter,
		AttrFunc:    attributes(rules),
		Indexers:    indexers(rules),
	}
	if err := store.CompleteWithOptions(storeOptions); err != nil {
		return nil, nil, fmt.Errorf("complete store of %q: %w", rules.Plural, err)
	}
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
		field, indexes := indexed(rules, label, field)
		return storage.SelectionPredicate{Label: label, Field: field, GetAttrs: attributes(rules), IndexFields: indexes}
	}
}
