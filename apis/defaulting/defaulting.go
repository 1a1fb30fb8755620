// SPDX-License-Identifier: Apache-2.0

// Package defaulting registers functions that set defaults.
package defaulting

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// Register registers set as the function that sets the defaults of objects of type T, alone or in a list L.
func Register[T, L any, PT object[T], PL object[L]](scheme *runtime.Scheme, set func(*T), items func(*L) []T) {
	scheme.AddTypeDefaultingFunc(PT(new(T)), func(obj any) {
		if o, ok := obj.(*T); ok {
			set(o)
		}
	})
	scheme.AddTypeDefaultingFunc(PL(new(L)), func(obj any) {
		list, ok := obj.(*L)
		if !ok {
			return
		}
		all := items(list)
		for i := range all {
			set(&all[i])
		}
	})
}

// object is a pointer to the Go type of a kind.
type object[T any] interface {
	*T
	runtime.Object
}

// Set sets a field that is nil to a value.
func Set[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// Ensure creates a section that is nil, so that the defaults of its fields can be set.
func Ensure[T any](section **T) *T {
	if *section == nil {
		*section = new(T)
	}

	return *section
}
