// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
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
		if diff := cmp.Diff(step.want, w.Claim(t.Context(), step.sort, step.thing, step.owner)); diff != "" {
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
		others, first := w.Announce(t.Context(), step.sort, step.thing)
		if diff := cmp.Diff(step.others, others); diff != "" || first != step.first {
			t.Errorf("%s\nAnnounce(%q, %q) is the first: %t, want %t; others (-want +got):\n%s", step.reason, step.sort, step.thing, first, step.first, diff)
		}
	}
	w.Claim(t.Context(), "domain", "a.example", "x")
	w.Release("domain", "a.example", "y")
	if w.Claim(t.Context(), "domain", "a.example", "z") {
		t.Error("Release(...) ends the claim of another owner")
	}
}

// TestClaimOutcome asks whether what a request has claimed is free once the request has ended (GAC-SIZE-8, GAC-IDOM-1).
func TestClaimOutcome(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		was    outcome.Outcome
		free   bool
	}{
		"Refused": {"nobody waits for what was refused", outcome.Refused, true},
		"Written": {"nor for what everybody sees", outcome.Written, true},
		"Unknown": {"what may still be written keeps its claim", outcome.Unknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
			w := world.From(nil, nil, now)
			ctx, r := outcome.Follow(t.Context())
			w.Claim(ctx, "domain", "a.example", "x")
			w.Announce(ctx, "seeds", "x")
			again := func() (free bool) {
				others, _ := w.Announce(t.Context(), "seeds", "y")
				w.Release("seeds", "y", "y")
				free = w.Claim(t.Context(), "domain", "a.example", "y")
				w.Release("domain", "a.example", "y")
				if free != (len(others) == 0) {
					t.Errorf("Claim(...) = %t, and Announce(...) finds %q", free, others)
				}
				return free
			}
			if again() {
				t.Error("the claim of a request on its way is not valid")
			}
			w.Release("domain", "a.example", "x")
			w.Release("seeds", "x", "x")
			if again() {
				t.Error("Release(...) ends the claim of a request on its way")
			}
			r.End(tc.was)
			if diff := cmp.Diff(tc.free, again()); diff != "" {
				t.Errorf("%s: it is free (-want +got):\n%s", tc.reason, diff)
			}
			now.SetTime(now.Now().Add(65 * time.Second))
			if !again() {
				t.Error("the claim does not end")
			}
		})
	}
}

// TestClaimTwice has two requests claim the same for the same owner, of which one is refused (GAC-SIZE-8).
func TestClaimTwice(t *testing.T) {
	t.Parallel()
	w := world.From(nil, nil, clocktesting.NewFakePassiveClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)))
	refused, one := outcome.Follow(t.Context())
	still, other := outcome.Follow(t.Context())
	for _, ctx := range []context.Context{refused, still} {
		if _, first := w.Announce(ctx, "seeds", "x"); !first {
			t.Error("Announce(...) takes another request for the same")
		}
	}
	one.End(outcome.Refused)
	if others, _ := w.Announce(t.Context(), "seeds", "y"); len(others) != 1 {
		t.Errorf("of two claims of %q one was refused, and %q is left", "x", others)
	}
	w.Withdraw(still, "seeds", "x")
	if others, _ := w.Announce(t.Context(), "seeds", "y"); len(others) > 0 {
		t.Errorf("Withdraw(...) leaves %q", others)
	}
	other.End(outcome.Unknown)
	if others, _ := w.Announce(t.Context(), "seeds", "y"); len(others) > 0 {
		t.Errorf("what was withdrawn comes back as %q", others)
	}
}

// TestClaimSize asks how large things become that requests were allowed to write (GAC-SIZE-3).
func TestClaimSize(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	w := world.From(nil, nil, now)
	grow, growth := outcome.Follow(t.Context())
	all := func() (found map[string]int64) {
		w.ClaimSize(t.Context(), "Secrets of x", "z", 1, func(claimed map[string]int64) bool { found = claimed; return false })
		return found
	}
	for _, step := range []struct {
		reason string
		ctx    context.Context
		thing  string
		size   int64
		unfit  bool
		do     func()
		want   map[string]int64
	}{
		{reason: "what does not fit is not claimed", thing: "a", size: 9, unfit: true, want: map[string]int64{}},
		{reason: "what fits is", thing: "a", size: 3, want: map[string]int64{"a": 3}},
		{reason: "the largest size counts", ctx: grow, thing: "a", size: 5, want: map[string]int64{"a": 5}},
		{reason: "of all requests", thing: "a", size: 4, want: map[string]int64{"a": 5}},
		{reason: "not of one that was refused", do: func() { growth.End(outcome.Refused) }, want: map[string]int64{"a": 4}},
		{reason: "others are beside it", thing: "b", size: 1, want: map[string]int64{"a": 4, "b": 1}},
		{reason: "what is deleted takes nothing", do: func() { w.Release("Secrets of x", "a", "a") }, want: map[string]int64{"b": 1}},
		{reason: "nor what is long ago", do: func() { now.SetTime(now.Now().Add(65 * time.Second)) }, want: map[string]int64{}},
	} {
		ctx, request := outcome.Follow(t.Context())
		if step.ctx != nil {
			ctx, request = step.ctx, nil
		}
		if step.do != nil {
			step.do()
		} else {
			w.ClaimSize(ctx, "Secrets of x", step.thing, step.size, func(map[string]int64) bool { return !step.unfit })
		}
		if request != nil {
			request.End(outcome.Written)
		}
		if diff := cmp.Diff(step.want, all()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestClaimsAreForgotten claims something of sorts that nobody asks for again, such as those of users and namespaces.
func TestClaimsAreForgotten(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	w := world.From(nil, nil, now)
	kept := func(reason string, want int) {
		t.Helper()
		if diff := cmp.Diff(want, w.ClaimedSorts()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	ctx, request := outcome.Follow(t.Context())
	w.Announce(ctx, "projects of rose", "x")
	w.Claim(ctx, "domain", "a.example", "x")
	w.Claim(t.Context(), "domain", "a.example", "y")
	kept("two sorts are claimed", 2)
	w.ClaimSize(t.Context(), "Secrets of x", "a", 1, func(map[string]int64) bool { return false })
	kept("nothing that does not fit", 2)
	request.End(outcome.Refused)
	kept("nothing that was refused", 0)
	w.Announce(t.Context(), "projects of rose", "x")
	w.Withdraw(t.Context(), "projects of rose", "x")
	kept("nothing that was withdrawn", 0)
	for i := range 10 {
		w.Announce(t.Context(), fmt.Sprint("projects of user ", i), "x")
	}
	kept("what may be on its way is claimed", 10)
	now.SetTime(now.Now().Add(65 * time.Second))
	w.Announce(t.Context(), "projects of rose", "x")
	kept("until its time is over", 1)
}
