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

func TestAnnounce(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	w := world.From(nil, nil, now)
	for _, step := range []struct {
		reason      string
		sort, thing string
		later       time.Duration
		release     bool
		others      []string
		first       bool
	}{
		{reason: "the first one is alone", sort: "seeds", thing: "b", first: true},
		{reason: "the next one finds it", sort: "seeds", thing: "a", others: []string{"b"}, first: true},
		{reason: "nobody is another one to oneself", sort: "seeds", thing: "b", others: []string{"a"}},
		{reason: "another sort is another matter", sort: "projects", thing: "a", first: true},
		{reason: "what is released is forgotten", sort: "seeds", thing: "a", release: true, others: []string{"b"}, first: true},
		{reason: "and what is long ago too", sort: "seeds", thing: "c", later: 65 * time.Second, first: true},
	} {
		now.SetTime(now.Now().Add(step.later))
		if step.release {
			w.Release(step.sort, step.thing, step.thing)
		}
		others, first := w.Announce(step.sort, step.thing)
		if diff := cmp.Diff(step.others, others); diff != "" || first != step.first {
			t.Errorf("%s\nAnnounce(%q, %q) is the first: %t, want %t; others (-want +got):\n%s", step.reason, step.sort, step.thing, first, step.first, diff)
		}
	}
	w.Claim("domain", "a.example", "x")
	w.Release("domain", "a.example", "y")
	if w.Claim("domain", "a.example", "z") {
		t.Error("Release(...) ends the claim of another owner")
	}
}
