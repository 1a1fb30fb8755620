// SPDX-License-Identifier: Apache-2.0

// Package checktest makes the errors of a validation comparable with the expected ones.
package checktest

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Complaints returns each error as its field and its type, sorted; nil if there are none.
func Complaints(errs field.ErrorList) []string {
	var complaints []string
	for _, e := range errs {
		complaints = append(complaints, e.Field+": "+string(e.Type))
	}
	slices.Sort(complaints)
	return complaints
}
