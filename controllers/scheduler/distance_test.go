// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/scheduler"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	place := func(region string) scheduler.Place { return scheduler.Place{Region: region, Provider: "local"} }
	cases := map[string]struct {
		reason string
		a, b   scheduler.Place
		want   int
	}{
		"SCHED-DIST-4 same":              {reason: "the same region of the same provider", a: place("eu-west-1"), b: place("eu-west-1"), want: 0},
		"SCHED-DIST-4 other number":      {reason: "one character substituted counts twice", a: place("eu-west-1"), b: place("eu-west-2"), want: 2},
		"SCHED-DIST-4 other orientation": {reason: "two orientations that differ", a: place("eu-west-1"), b: place("eu-east-1"), want: 2},
		"SCHED-DIST-4 no orientation":    {reason: "two characters inserted, one orientation empty", a: place("eu-west-1"), b: place("eu-1"), want: 5},
		"SCHED-DIST-4 word order":        {reason: "bases europe-:1 and :europe, four edits", a: place("europe-north1"), b: place("northeurope"), want: 8},
		"SCHED-DIST-1 first of the list": {reason: "north is looked for before west, so both regions are northern ones", a: place("westnorth"), b: place("north"), want: 8},
		"SCHED-DIST-1 north before east": {reason: "north is looked for before east, so northeast is a northern region", a: place("northeast"), b: place("north"), want: 8},
		"SCHED-DIST-1 north, then south": {reason: "the order of the list counts, and not that in the name", a: place("southnorth"), b: place("north"), want: 10},
		"SCHED-DIST-1 south, then east":  {reason: "the same for the next two", a: place("eastsouth"), b: place("south"), want: 8},
		"SCHED-DIST-1 east, then west":   {reason: "and the next", a: place("westeast"), b: place("east"), want: 8},
		"SCHED-DIST-1 west, then middle": {reason: "and the last", a: place("centralwest"), b: place("west"), want: 14},
		"SCHED-DIST-1 first occurrence":  {reason: "only the first occurrence of the word is cut", a: place("east-east"), b: place("east-"), want: 8},
		"SCHED-DIST-3 other provider":    {reason: "another provider is 2 further", a: place("eu"), b: scheduler.Place{Region: "eu", Provider: "other"}, want: 2},
		"SCHED-DIST-2 characters":        {reason: "characters count, not bytes", a: place("ä"), b: place("a"), want: 2},
		"SCHED-DIST-2 empty":             {reason: "everything is inserted", a: place(""), b: place("abc"), want: 6},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := []int{scheduler.Distance(tc.a, tc.b), scheduler.Distance(tc.b, tc.a)}
			if diff := cmp.Diff([]int{tc.want, tc.want}, got); diff != "" {
				t.Errorf("%s\nDistance of %v and %v, which must be the same both ways (-want +got):\n%s", tc.reason, tc.a, tc.b, diff)
			}
		})
	}
}
