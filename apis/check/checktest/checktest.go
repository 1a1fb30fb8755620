// SPDX-License-Identifier: Apache-2.0

// Package checktest compares the errors of a validation with the expected ones.
package checktest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Complaints compares the fields and the types of errors with the expected ones.
func Complaints(tb testing.TB, reason string, got field.ErrorList, want ...string) {
	tb.Helper()
	complaints := make([]string, 0, len(got))
	for _, e := range got {
		complaints = append(complaints, e.Field+": "+string(e.Type))
	}
	slices.Sort(complaints)
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, complaints); diff != "" {
		tb.Errorf("%s\ncomplaints (-want +got):\n%s\nin words: %v", reason, diff, got.ToAggregate())
	}
}
