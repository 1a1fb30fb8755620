// SPDX-License-Identifier: Apache-2.0

// Package defaulting registers what fills in the fields that an object leaves out.
package defaulting

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// Register makes a scheme call set for every object of a kind T, alone or in a list L.
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

// object is a pointer to a Go type that is a kind.
type object[T any] interface {
	*T
	runtime.Object
}

// Set gives a field that is absent a value.
func Set[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// Ensure makes an absent section present, so that its own fields can be filled.
func Ensure[T any](section **T) *T {
	if *section == nil {
		*section = new(T)
	}

	return *section
}
