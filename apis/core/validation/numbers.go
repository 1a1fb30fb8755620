// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type number interface{ ~int32 | ~int64 | ~float64 }

// numberBetween checks that an optional number is within bounds.
func numberBetween[N number](value *N, least, most N, path *field.Path) field.ErrorList {
	if value == nil || *value >= least && *value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be between %v and %v", least, most))}
}

// atLeast checks that an optional number is not below a bound.
func atLeast[N number](value *N, least N, path *field.Path) field.ErrorList {
	if value == nil || *value >= least {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be at least %v", least))}
}

// notNegative checks that an optional number is not negative.
func notNegative[N number](value *N, path *field.Path) field.ErrorList {
	return atLeast(value, 0, path)
}

// fraction checks that an optional number is between 0 and 1; NaN is not.
func fraction(value *float64, path *field.Path) field.ErrorList {
	return numberBetween(value, 0, 1, path)
}

// span is a named duration.
type span struct {
	name  string
	value *metav1.Duration
}

// lasting checks that no duration is negative.
func lasting(all []span, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, s := range all {
		if s.value != nil && s.value.Duration < 0 {
			errs = append(errs, field.Invalid(path.Child(s.name), s.value.Duration.String(), "must not be negative"))
		}
	}
	return errs
}

// share is a named fraction.
type share struct {
	name  string
	value *float64
}

func shares(all []share, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, s := range all {
		errs = append(errs, fraction(s.value, path.Child(s.name))...)
	}
	return errs
}

// longerThan checks that every given duration is longer than a minimum.
func longerThan(least time.Duration, all []span, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, s := range all {
		if s.value != nil && s.value.Duration <= least {
			errs = append(errs, field.Invalid(path.Child(s.name), s.value.Duration.String(), "is too short"))
		}
	}
	return errs
}
