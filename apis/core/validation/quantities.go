// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// amountOf is a named quantity.
type amountOf struct {
	name  string
	value *resource.Quantity
}

// quantities checks that no quantity is negative.
func quantities(all []amountOf, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, q := range all {
		if q.value != nil && q.value.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Child(q.name), q.value.String(), "must not be negative"))
		}
	}
	return errs
}
