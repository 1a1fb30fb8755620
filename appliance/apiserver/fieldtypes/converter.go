// SPDX-License-Identifier: Apache-2.0

// Package fieldtypes converts objects for the managed fields of the library without work that it throws away.
//
// To see whether the owners of fields of an object use the version that the object has, the library converts the object into
// a tree of maps, once for each owner, and reads two fields of it. With ten owners of a Seed that is a seventh of all that a
// server allocates for its gardenlets. Here the tree is made when somebody reads it.
//
// The library also validates objects against the types of their fields before it compares them, field by field. These types were made from
// the Go type of the object, so validation would only find items of lists without a key, which the comparison finds as well, and free JSON
// that is no object, whose owners do not depend on that. So objects that have a Go type are not validated here.
package fieldtypes

import (
	"errors"
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// errNoObject is the error for a value that is a list or a scalar.
var errNoObject = errors.New("the value has no fields, so it is no object")

// Lazy returns a converter with the types of the given one, whose objects are made from values when their contents are first
// read. The value of such an object must not change before.
func Lazy(types managedfields.TypeConverter) managedfields.TypeConverter {
	return &lazy{TypeConverter: types}
}

type lazy struct {
	managedfields.TypeConverter

	// kinds has an empty object of each kind that was converted, by its schema.GroupVersionKind.
	kinds sync.Map
}

// ObjectToTyped implements managedfields.TypeConverter. It does not validate an object that has a Go type, unless somebody applies it.
func (l *lazy) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	// Of what is applied no list may have duplicates.
	if _, untyped := object.(runtime.Unstructured); untyped || !slices.Contains(options, typed.AllowDuplicates) {
		return l.TypeConverter.ObjectToTyped(object, options...) //nolint:wrapcheck // As the library says it.
	}
	like, err := l.like(object)
	if err != nil {
		return nil, err
	}
	content, err := contentOf(object)
	if err != nil {
		return nil, err
	}

	return typed.AsTypedUnvalidated(content, like.Schema(), like.TypeRef()), nil //nolint:staticcheck // See the package.
}

// like returns an empty object of the kind of another one, from which the types of the kind are known.
func (l *lazy) like(object runtime.Object) (*typed.TypedValue, error) {
	kind := object.GetObjectKind().GroupVersionKind()
	if known, ok := l.kinds.Load(kind); ok {
		return known.(*typed.TypedValue), nil //nolint:forcetypeassert // Nothing else is stored.
	}
	empty, ok := reflect.TypeAssert[runtime.Object](reflect.New(reflect.TypeOf(object).Elem()))
	if !ok {
		return nil, errNoObject
	}
	empty.GetObjectKind().SetGroupVersionKind(kind)
	first, err := l.TypeConverter.ObjectToTyped(empty, typed.AllowDuplicates)
	if err != nil {
		return nil, err //nolint:wrapcheck // As the library says it.
	}
	l.kinds.Store(kind, first)

	return first, nil
}

// TypedToObject implements managedfields.TypeConverter.
func (*lazy) TypedToObject(content *typed.TypedValue) (runtime.Object, error) {
	if !content.AsValue().IsMap() {
		return nil, errNoObject
	}

	return &object{content: content}, nil
}

// object is a value as an object without a Go type. It belongs to one request, and is not for concurrent use.
type object struct {
	content *typed.TypedValue
	// tree is the content, nil until it was needed.
	tree *unstructured.Unstructured
}

var _ runtime.Unstructured = (*object)(nil)

// whole returns the content.
func (o *object) whole() *unstructured.Unstructured {
	if o.tree == nil {
		content, _ := o.content.AsValue().Unstructured().(map[string]any) // The value is a map.
		o.tree = &unstructured.Unstructured{Object: content}
	}

	return o.tree
}

// GetObjectKind implements runtime.Object. The kind is read from the value as long as nobody needs more of it.
func (o *object) GetObjectKind() schema.ObjectKind {
	if o.tree == nil {
		return kind{o}
	}

	return o.tree
}

// DeepCopyObject implements runtime.Object.
func (o *object) DeepCopyObject() runtime.Object { return o.whole().DeepCopyObject() }

// NewEmptyInstance implements runtime.Unstructured.
func (o *object) NewEmptyInstance() runtime.Unstructured { return o.whole().NewEmptyInstance() }

// UnstructuredContent implements runtime.Unstructured.
func (o *object) UnstructuredContent() map[string]any { return o.whole().UnstructuredContent() }

// SetUnstructuredContent implements runtime.Unstructured.
func (o *object) SetUnstructuredContent(content map[string]any) {
	o.tree = &unstructured.Unstructured{Object: content}
}

// IsList implements runtime.Unstructured.
func (o *object) IsList() bool { return o.whole().IsList() }

// EachListItem implements runtime.Unstructured.
func (o *object) EachListItem(do func(runtime.Object) error) error {
	return o.whole().EachListItem(do) //nolint:wrapcheck // The error is that of the caller's function.
}

// EachListItemWithAlloc implements runtime.Unstructured.
func (o *object) EachListItemWithAlloc(do func(runtime.Object) error) error {
	return o.whole().EachListItemWithAlloc(do) //nolint:wrapcheck // The error is that of the caller's function.
}

// kind is the kind of an object whose tree was not needed yet.
type kind struct {
	of *object
}

// GroupVersionKind implements schema.ObjectKind.
func (k kind) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(k.field("apiVersion"), k.field("kind"))
}

// SetGroupVersionKind implements schema.ObjectKind.
func (k kind) SetGroupVersionKind(to schema.GroupVersionKind) { k.of.whole().SetGroupVersionKind(to) }

// field returns the text in the field, "" if there is none.
func (k kind) field(name string) string {
	text, found := k.of.content.AsValue().AsMap().Get(name)
	if !found || !text.IsString() {
		return ""
	}

	return text.AsString()
}
