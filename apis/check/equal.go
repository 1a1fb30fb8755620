// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"reflect"
	"sync"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Equal reports whether two values are semantically equal: the answer is that of equality.Semantic.DeepEqual, for a tenth of
// its cost. How to compare a type is found out once; values must be trees, as those of API objects are. Pass pointers:
// structs would be copied.
func Equal(a, b any) bool {
	one, other := reflect.ValueOf(a), reflect.ValueOf(b)
	if !one.IsValid() || !other.IsValid() {
		return one.IsValid() == other.IsValid()
	}

	return one.Type() == other.Type() && comparisonOf(one.Type()).equal(one, other)
}

// EqualValues is Equal for reflected values of one type.
func EqualValues(a, b reflect.Value) bool { return comparisonOf(a.Type()).equal(a, b) }

// comparison is how the values of a type are compared. It is shared by pointer, since a type may contain itself.
type comparison struct {
	equal func(a, b reflect.Value) bool
}

// known are the comparisons of the types that were seen. Types belong to the process, as reflect knows them.
//
//nolint:gochecknoglobals // See above.
var known struct {
	// byType has them by reflect.Type.
	byType sync.Map
	// compiling is held while one is made.
	compiling sync.Mutex
}

func comparisonOf(t reflect.Type) *comparison {
	if c, ok := known.byType.Load(t); ok {
		return c.(*comparison) //nolint:forcetypeassert // Nothing else is stored.
	}
	known.compiling.Lock()
	defer known.compiling.Unlock()
	made := map[reflect.Type]*comparison{}
	c := compile(t, made)
	// They become visible once all of them are complete.
	for t, one := range made {
		known.byType.LoadOrStore(t, one)
	}

	return c
}

// compile returns the comparison of a type, and adds it and those of the types in it to made.
func compile(t reflect.Type, made map[reflect.Type]*comparison) *comparison {
	if c, ok := known.byType.Load(t); ok {
		return c.(*comparison) //nolint:forcetypeassert // Nothing else is stored.
	}
	if c, ok := made[t]; ok {
		return c
	}
	c := &comparison{}
	made[t] = c
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		c.equal = sameAmount
	case t == reflect.TypeFor[metav1.Time](), t == reflect.TypeFor[metav1.MicroTime](), t == reflect.TypeFor[metav1.FieldsV1]():
		c.equal = semantic
	default:
		c.equal = ofKind(t, made)
	}

	return c
}

// ofKind returns the comparison of a type that has no meaning of its own.
func ofKind(t reflect.Type, made map[reflect.Type]*comparison) func(a, b reflect.Value) bool {
	switch t.Kind() {
	case reflect.Bool:
		return func(a, b reflect.Value) bool { return a.Bool() == b.Bool() }
	case reflect.String:
		return func(a, b reflect.Value) bool { return a.String() == b.String() }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(a, b reflect.Value) bool { return a.Int() == b.Int() }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(a, b reflect.Value) bool { return a.Uint() == b.Uint() }
	case reflect.Pointer:
		return pointers(compile(t.Elem(), made))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return func(a, b reflect.Value) bool { return bytes.Equal(a.Bytes(), b.Bytes()) }
		}
		return slicesOf(compile(t.Elem(), made))
	case reflect.Map:
		if t == reflect.TypeFor[map[string]string]() {
			return sameTexts
		}
		return mapsOf(compile(t.Elem(), made))
	case reflect.Struct:
		return structs(t, made)
	default:
		return semantic
	}
}

// semantic compares as the library does.
func semantic(a, b reflect.Value) bool {
	return apiequality.Semantic.DeepEqual(a.Interface(), b.Interface())
}

func sameAmount(a, b reflect.Value) bool {
	one, other := a.Interface().(resource.Quantity), b.Interface().(resource.Quantity) //nolint:forcetypeassert // Their type.

	return one.Cmp(other) == 0
}

func sameTexts(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	one, other := a.Interface().(map[string]string), b.Interface().(map[string]string) //nolint:forcetypeassert // Their type.
	for key, value := range one {
		if also, ok := other[key]; !ok || also != value {
			return false
		}
	}

	return true
}

func pointers(elem *comparison) func(a, b reflect.Value) bool {
	return func(a, b reflect.Value) bool {
		switch {
		case a.UnsafePointer() == b.UnsafePointer():
			return true
		case a.IsNil() || b.IsNil():
			return false
		default:
			return elem.equal(a.Elem(), b.Elem())
		}
	}
}

func slicesOf(elem *comparison) func(a, b reflect.Value) bool {
	return func(a, b reflect.Value) bool {
		n := a.Len()
		switch {
		case n != b.Len():
			return false
		case n == 0 || a.UnsafePointer() == b.UnsafePointer():
			return true
		}
		for i := range n {
			if !elem.equal(a.Index(i), b.Index(i)) {
				return false
			}
		}

		return true
	}
}

func mapsOf(elem *comparison) func(a, b reflect.Value) bool {
	return func(a, b reflect.Value) bool {
		if a.Len() != b.Len() {
			return false
		}
		for entries := a.MapRange(); entries.Next(); {
			also := b.MapIndex(entries.Key())
			if !also.IsValid() || !elem.equal(entries.Value(), also) {
				return false
			}
		}

		return true
	}
}

func structs(t reflect.Type, made map[reflect.Type]*comparison) func(a, b reflect.Value) bool {
	fields := make([]*comparison, t.NumField())
	for i := range fields {
		if !t.Field(i).IsExported() {
			return semantic // What the library makes of it, which may be a panic.
		}
		fields[i] = compile(t.Field(i).Type, made)
	}

	return func(a, b reflect.Value) bool {
		for i, field := range fields {
			if !field.equal(a.Field(i), b.Field(i)) {
				return false
			}
		}

		return true
	}
}
