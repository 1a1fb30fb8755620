// SPDX-License-Identifier: Apache-2.0

package query_test

import (
	"testing"

	"github.com/terrarium-garden/terrarium/apis/core/query"
)

func TestResponsibleSeed_GLET_SHOOT_2(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason       string
		spec, status *string
		want         string
	}{
		"Nowhere":   {reason: "nobody is responsible for what has no seed"},
		"Scheduled": {reason: "the seed in the spec begins", spec: new("a"), want: "a"},
		"Running":   {reason: "and stays responsible", spec: new("a"), status: new("a"), want: "a"},
		"Moving":    {reason: "the seed that is left finishes first", spec: new("b"), status: new("a"), want: "a"},
		"Moved":     {reason: "then the new one begins", spec: new("b"), want: "b"},
		"Withdrawn": {reason: "nobody is, without a seed in the spec", status: new("a")},
		"Empty":     {reason: "an empty name is none", spec: new(""), status: new("a")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := query.ResponsibleSeed(tc.spec, tc.status); got != tc.want {
				t.Errorf("%s\nResponsibleSeed(...) = %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
