// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	"reflect"
	"slices"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// value makes a condition on the value at the path of a row.
func value[T any](when func(T) bool) func(any, any) bool {
	return func(_, value any) bool {
		typed, ok := value.(T)
		return ok && when(typed)
	}
}

// object makes a condition on the whole object.
func object[T any](when func(*T) bool) func(any, any) bool {
	return func(obj, _ any) bool {
		typed, ok := obj.(*T)
		return ok && when(typed)
	}
}

// Operations returns the operations in an annotation of a shoot that no controller carries out, in the order given.
func Operations(annotation string) []string {
	return slices.DeleteFunc(query.Operations(annotation), func(op string) bool {
		return op != gardencorev1beta1.OperationRotateObservabilityCredentials
	})
}

// onlyNow reports whether an operation has no effect if it is left for the next maintenance.
func onlyNow(operation string) bool {
	switch operation {
	case gardencorev1beta1.OperationMaintain, gardencorev1beta1.OperationRetry, gardencorev1beta1.OperationForceInPlaceUpdate:
		return true
	default:
		return false
	}
}

// rowsOf sets the kind of rows about fields of T.
func rowsOf[T any](group string, rows ...Row) []Row {
	t := reflect.TypeFor[*T]()
	for i := range rows {
		rows[i].of, rows[i].Group, rows[i].Kind = t, group, t.Elem().Name()
	}
	return rows
}
