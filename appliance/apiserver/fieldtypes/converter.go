// SPDX-License-Identifier: Apache-2.0

// Package fieldtypes converts objects for the managed fields of the library without work that it throws away.
//
// To see whether the owners of fields of an object use the version that the object has, the library converts the object into
// a tree of maps, once for each owner, and reads two fields of it. With ten owners of a Seed that is a seventh of all that a
// server allocates for its gardenlets. Here the tree is made when somebody reads it.
package fieldtypes

import (
	"errors"

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
	return lazy{types}
}

type lazy struct {
	managedfields.TypeConverter
}

// TypedToObject implements managedfields.TypeConverter.
func (lazy) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	if !value.AsValue().IsMap() {
		return nil, errNoObject
	}

	return &object{value: value}, nil
}

// object is a value as an object without a Go type. It belongs to one request, and is not for concurrent use.
type object struct {
	value *typed.TypedValue
	// tree is the content, nil until it was needed.
	tree *unstructured.Unstructured
}

var _ runtime.Unstructured = (*object)(nil)

// whole returns the content.
func (o *object) whole() *unstructured.Unstructured {
	if o.tree == nil {
		content, _ := o.value.AsValue().Unstructured().(map[string]any) // The value is a map.
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
	value, found := k.of.value.AsValue().AsMap().Get(name)
	if !found || !value.IsString() {
		return ""
	}

	return value.AsString()
}
