// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

func TestClaim(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	w := world.From(nil, nil, now)
	for _, step := range []struct {
		reason             string
		sort, thing, owner string
		later              time.Duration
		want               bool
	}{
		{reason: "the first one gets it", sort: "domain", thing: "a.example", owner: "x/a", want: true},
		{reason: "and may ask again", sort: "domain", thing: "a.example", owner: "x/a", want: true},
		{reason: "another one does not", sort: "domain", thing: "a.example", owner: "y/a"},
		{reason: "what is not claimed is free", sort: "domain", thing: "b.example", owner: "y/a", want: true},
		{reason: "another sort is another matter", sort: "namespace", thing: "a.example", owner: "y/a", want: true},
		{reason: "a claim holds for as long as a request may take", sort: "domain", thing: "a.example", owner: "y/a", later: time.Minute},
		{reason: "and ends", sort: "domain", thing: "a.example", owner: "y/a", later: 5 * time.Second, want: true},
	} {
		now.SetTime(now.Now().Add(step.later))
		if diff := cmp.Diff(step.want, w.Claim(step.sort, step.thing, step.owner)); diff != "" {
			t.Errorf("%s\nClaim(%q, %q, %q) (-want +got):\n%s", step.reason, step.sort, step.thing, step.owner, diff)
		}
	}
}
