// SPDX-License-Identifier: Apache-2.0

package fieldtypes

import (
	"reflect"

	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/terrarium-garden/terrarium/apis/check"
)

// fields is a struct as a value. When two of them are compared, the fields that are equal in both are left out: most changes of an
// object concern few of its fields, and the library would go through all that is in the others.
type fields struct {
	value.Value

	// of is the struct.
	of reflect.Value
}

// contentOf returns what a pointer to a struct points to.
func contentOf(object any) (value.Value, error) {
	plain, err := value.NewValueReflect(object)
	if err != nil {
		return nil, err //nolint:wrapcheck // As the library says it.
	}

	return fieldsOf(plain, reflect.ValueOf(object)), nil
}

// fieldsOf returns plain, by its fields if it is a struct.
func fieldsOf(plain value.Value, of reflect.Value) value.Value {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || value.TypeReflectEntryOf(of.Type()).CanConvertToUnstructured() {
		return plain
	}

	return fields{Value: plain, of: of}
}

// AsMap implements value.Value.
func (f fields) AsMap() value.Map { return f.AsMapUsing(value.HeapAllocator) }

// AsMapUsing implements value.Value.
func (f fields) AsMapUsing(a value.Allocator) value.Map {
	return members{Map: f.Value.AsMapUsing(a), of: f.of}
}

// members are the fields of a struct by their names in JSON.
type members struct {
	value.Map

	of reflect.Value
}

// Zip implements value.Map.
func (m members) Zip(other value.Map, order value.MapTraverseOrder, do func(key string, own, others value.Value) bool) bool {
	return m.ZipUsing(value.HeapAllocator, other, order, do)
}

// ZipUsing implements value.Map. It leaves out the fields that are equal in two structs of the same type, so it is for comparisons only:
// the library merges what is applied, which is no struct, and puts structs in no order.
func (m members) ZipUsing(
	a value.Allocator, other value.Map, order value.MapTraverseOrder, do func(key string, own, others value.Value) bool,
) bool {
	also, ok := other.(members)
	if !ok || also.of.Type() != m.of.Type() {
		return m.Map.ZipUsing(a, other, order, do)
	}
	known := value.TypeReflectEntryOf(m.of.Type()).Fields()

	return m.Map.ZipUsing(a, also.Map, order, func(key string, own, others value.Value) bool {
		if own == nil || others == nil {
			return do(key, own, others)
		}
		one, two := known[key].GetFrom(m.of), known[key].GetFrom(also.of)
		if check.Identical(one, two) {
			return true
		}

		return do(key, fieldsOf(own, one), fieldsOf(others, two))
	})
}

// EqualsUsing implements value.Map.
func (m members) EqualsUsing(a value.Allocator, other value.Map) bool {
	if also, ok := other.(members); ok {
		return m.Map.EqualsUsing(a, also.Map)
	}

	return m.Map.EqualsUsing(a, other)
}
