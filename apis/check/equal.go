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

	return one.Type() == other.Type() && EqualValues(one, other)
}

// EqualValues is Equal for reflected values of one type.
func EqualValues(a, b reflect.Value) bool { return byMeaning.of(a.Type()).equal(a, b) }

// Identical reports whether two reflected values of one type are encoded in the same way: an empty list is not an absent one. In
// doubt, as with amounts that were written differently, it is false.
func Identical(a, b reflect.Value) bool { return byContent.of(a.Type()).equal(a, b) }

// comparison is how the values of a type are compared. It is shared by pointer, since a type may contain itself.
type comparison struct {
	equal func(a, b reflect.Value) bool
}

// comparisons are those of the types that were seen. Types belong to the process, as reflect knows them.
type comparisons struct {
	// strict says that what is absent is not equal to what is empty, and that no type has a meaning of its own.
	strict bool
	// byType has them by reflect.Type.
	byType sync.Map
	// compiling is held while one is made.
	compiling sync.Mutex
}

//nolint:gochecknoglobals // See above.
var byMeaning, byContent = &comparisons{}, &comparisons{strict: true}

// of returns the comparison of a type.
func (c *comparisons) of(t reflect.Type) *comparison {
	if known, ok := c.byType.Load(t); ok {
		return known.(*comparison) //nolint:forcetypeassert // Nothing else is stored.
	}
	c.compiling.Lock()
	defer c.compiling.Unlock()
	now := &compiling{comparisons: c, made: map[reflect.Type]*comparison{}}
	one := now.compile(t)
	// They become visible once all of them are complete.
	for t, one := range now.made {
		c.byType.LoadOrStore(t, one)
	}

	return one
}

// compiling makes comparisons.
type compiling struct {
	*comparisons

	// made are those that were not known before.
	made map[reflect.Type]*comparison
}

// compile returns the comparison of a type, and adds it and those of the types in it to made.
func (c *compiling) compile(t reflect.Type) *comparison {
	if known, ok := c.byType.Load(t); ok {
		return known.(*comparison) //nolint:forcetypeassert // Nothing else is stored.
	}
	if known, ok := c.made[t]; ok {
		return known
	}
	one := &comparison{}
	c.made[t] = one
	switch {
	case c.strict:
		one.equal = c.ofKind(t)
	case t == reflect.TypeFor[resource.Quantity]():
		one.equal = sameAmount
	case t == reflect.TypeFor[metav1.Time](), t == reflect.TypeFor[metav1.MicroTime](), t == reflect.TypeFor[metav1.FieldsV1]():
		one.equal = semantic
	default:
		one.equal = c.ofKind(t)
	}

	return one
}

// ofKind returns the comparison of a type that has no meaning of its own.
func (c *compiling) ofKind(t reflect.Type) func(a, b reflect.Value) bool {
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
		return pointers(c.compile(t.Elem()))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return c.present(func(a, b reflect.Value) bool { return bytes.Equal(a.Bytes(), b.Bytes()) })
		}
		return c.present(slicesOf(c.compile(t.Elem())))
	case reflect.Map:
		if t == reflect.TypeFor[map[string]string]() {
			return c.present(sameTexts)
		}
		return c.present(mapsOf(c.compile(t.Elem())))
	case reflect.Struct:
		return c.structs(t)
	default:
		return c.whole()
	}
}

// whole returns the comparison of values whose parts cannot be looked at one by one.
func (c *compiling) whole() func(a, b reflect.Value) bool {
	if c.strict {
		return func(a, b reflect.Value) bool { return reflect.DeepEqual(a.Interface(), b.Interface()) }
	}

	return semantic
}

// present returns a comparison of lists or maps that minds whether they are there at all, if that counts.
func (c *compiling) present(equal func(a, b reflect.Value) bool) func(a, b reflect.Value) bool {
	if !c.strict {
		return equal
	}

	return func(a, b reflect.Value) bool { return a.IsNil() == b.IsNil() && equal(a, b) }
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

func (c *compiling) structs(t reflect.Type) func(a, b reflect.Value) bool {
	fields := make([]*comparison, t.NumField())
	for i := range fields {
		if !t.Field(i).IsExported() {
			return c.whole() // What the library makes of it, which may be a panic.
		}
		fields[i] = c.compile(t.Field(i).Type)
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
