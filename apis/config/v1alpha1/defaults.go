// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ensure makes the object that p points to, if there is none, and returns it.
func ensure[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}

	return *p
}

// setDefault gives an absent value its default; a value of zero is kept.
func setDefault[T any](p **T, value T) {
	if *p == nil {
		*p = &value
	}
}

// setZero gives a value of zero its default, for fields where zero and absent are the same.
func setZero[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// setPeriod gives a period that is absent or not positive its default.
func setPeriod(p **metav1.Duration, value time.Duration) {
	if *p != nil && (*p).Duration <= 0 {
		*p = nil
	}
	setDuration(p, value)
}

func setDuration(p **metav1.Duration, value time.Duration) {
	setDefault(p, metav1.Duration{Duration: value})
}
