// SPDX-License-Identifier: Apache-2.0

package holdings_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/holdings"
	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
)

type shoot = gardencorev1beta1.Shoot

var errBoom = errors.New("boom")

// is a shoot of namespace n at a version.
func is(name, version string, change ...func(*shoot)) *shoot {
	s := &shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, ResourceVersion: version}}
	for _, c := range change {
		c(s)
	}
	return s
}

func domain(name string) func(*shoot) {
	return func(s *shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: &name} }
}

func seeds(spec, status string) func(*shoot) {
	return func(s *shoot) {
		if s.Spec.SeedName = &spec; spec == "" {
			s.Spec.SeedName = nil
		}
		if s.Status.SeedName = &status; status == "" {
			s.Status.SeedName = nil
		}
	}
}

func by(name, version string) holdings.Request {
	return holdings.Request{Owner: "n/" + name, Version: version}
}

// ended is a request by a shoot with an outcome, which is told at the end.
func ended(r holdings.Request, was outcome.Outcome, do func(holdings.Request)) {
	_, about := outcome.Follow(context.Background())
	r.Outcome = about
	do(r)
	about.End(was)
}

// stage is a garden that is being written to.
type stage struct {
	*holdings.Holdings

	ctx   context.Context
	clock *clocktesting.FakePassiveClock
}

func newStage(t *testing.T) *stage {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	s := &stage{Holdings: holdings.New(clock), ctx: t.Context(), clock: clock}
	if err := s.Load(t.Context(), func(context.Context) ([]shoot, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

// wrote tells of shoots that were created or changed, removed of one that was deleted.
func (s *stage) wrote(shoots ...*shoot) {
	for _, one := range shoots {
		s.Changed(s.ctx, nil, one)
	}
}

func (s *stage) removed(one *shoot) { s.Changed(s.ctx, one, nil) }

func (s *stage) pass(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }

func TestDomain_API_SVAL_18(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		do     func(*stage)
		ask    holdings.Request
		domain string
		want   holdings.Verdict
	}{
		"Free":        {reason: "nobody has it", ask: by("b", ""), domain: "x.example"},
		"Same":        {reason: "a domain has one shoot", do: func(s *stage) { s.wrote(is("a", "1", domain("x.example"))) }, ask: by("b", ""), domain: "x.example", want: holdings.Used},
		"Below":       {reason: "nobody lives below another", do: func(s *stage) { s.wrote(is("a", "1", domain("x.example"))) }, ask: by("b", ""), domain: "c.d.x.example", want: holdings.Nested},
		"Above":       {reason: "nor above", do: func(s *stage) { s.wrote(is("a", "1", domain("c.d.x.example"))) }, ask: by("b", ""), domain: "x.example", want: holdings.Nested},
		"Beside":      {reason: "beside is fine", do: func(s *stage) { s.wrote(is("a", "1", domain("x.example"))) }, ask: by("b", ""), domain: "y.example"},
		"Letters":     {reason: "the same letters are not the same labels", do: func(s *stage) { s.wrote(is("a", "1", domain("x.example"))) }, ask: by("b", ""), domain: "ax.example"},
		"Own":         {reason: "nobody is in its own way", do: func(s *stage) { s.wrote(is("a", "1", domain("c.x.example"))) }, ask: by("a", "1"), domain: "x.example"},
		"OwnAndOther": {reason: "but another one is", do: func(s *stage) { s.wrote(is("a", "1", domain("c.x.example")), is("b", "2", domain("d.x.example"))) }, ask: by("a", "1"), domain: "x.example", want: holdings.Nested},
		"Left":        {reason: "what a shoot has left is free", do: func(s *stage) { s.wrote(is("a", "1", domain("x.example")), is("a", "2", domain("y.example"))) }, ask: by("b", ""), domain: "x.example"},
		"Gone": {reason: "so is what was a deleted shoot's", do: func(s *stage) {
			s.wrote(is("a", "1", domain("x.example")))
			s.removed(is("a", "2", domain("x.example")))
		}, ask: by("b", ""), domain: "x.example"},
		"GoneAtOnce": {reason: "a removal may have the version of the last write", do: func(s *stage) {
			s.wrote(is("a", "1", domain("x.example")))
			s.removed(is("a", "1", domain("x.example")))
		}, ask: by("b", ""), domain: "x.example"},
		"LateUpdate": {reason: "a writer that tells late does not bring it back", do: func(s *stage) {
			s.removed(is("a", "3", domain("x.example")))
			s.wrote(is("a", "2", domain("x.example")))
		}, ask: by("b", ""), domain: "x.example"},
		"LateChange":  {reason: "nor takes away what is newer", do: func(s *stage) { s.wrote(is("a", "3", domain("x.example")), is("a", "2")) }, ask: by("b", ""), domain: "x.example", want: holdings.Used},
		"LateRemoval": {reason: "a namesake lives although the end of the first one is told late", do: func(s *stage) { s.wrote(is("a", "3", domain("x.example"))); s.removed(is("a", "2")) }, ask: by("b", ""), domain: "x.example", want: holdings.Used},

		"Claimed":      {reason: "of two requests at once one is refused", do: func(s *stage) { s.Domain(by("a", ""), "x.example") }, ask: by("b", ""), domain: "x.example", want: holdings.Requested},
		"ClaimedBelow": {reason: "also below", do: func(s *stage) { s.Domain(by("a", ""), "x.example") }, ask: by("b", ""), domain: "c.x.example", want: holdings.Requested},
		"ClaimedAbove": {reason: "and above", do: func(s *stage) { s.Domain(by("a", ""), "c.x.example") }, ask: by("b", ""), domain: "x.example", want: holdings.Requested},
		"OwnClaim":     {reason: "who has asked may ask again", do: func(s *stage) { s.Domain(by("a", ""), "x.example") }, ask: by("a", ""), domain: "x.example"},
		"DryRun":       {reason: "what writes nothing claims nothing", do: func(s *stage) { s.Domain(holdings.Request{Owner: "n/a", DryRun: true}, "x.example") }, ask: by("b", ""), domain: "x.example"},
		"Refused": {reason: "nor does what is refused", do: func(s *stage) {
			s.wrote(is("a", "1", domain("x.example")))
			s.Domain(by("b", ""), "c.x.example")
			s.removed(is("a", "2"))
		}, ask: by("d", ""), domain: "c.x.example"},
		"RefusedLater": {reason: "nor what is refused by the next one", do: func(s *stage) {
			ended(by("a", ""), outcome.Refused, func(r holdings.Request) { s.Domain(r, "x.example") })
		}, ask: by("b", ""), domain: "x.example"},
		"RefusedOneOfTwo": {reason: "another request of the same shoot keeps its claim", do: func(s *stage) {
			s.Domain(by("a", ""), "x.example")
			ended(by("a", ""), outcome.Refused, func(r holdings.Request) { s.Domain(r, "x.example") })
		}, ask: by("b", ""), domain: "x.example", want: holdings.Requested},
		"WrittenAndGone": {reason: "a creation that was answered is not on its way any more", do: func(s *stage) {
			ended(by("a", ""), outcome.Written, func(r holdings.Request) {
				s.Domain(r, "x.example")
				s.wrote(is("a", "1", domain("x.example")))
			})
			s.removed(is("a", "2"))
		}, ask: by("b", ""), domain: "x.example"},
		"GivenUp": {reason: "what may still be written is claimed", do: func(s *stage) {
			ended(by("a", ""), outcome.Unknown, func(r holdings.Request) { s.Domain(r, "x.example") })
		}, ask: by("b", ""), domain: "x.example", want: holdings.Requested},
		"StillClaimed": {reason: "a claim holds for as long as a request may take", do: func(s *stage) { s.Domain(by("a", ""), "x.example"); s.pass(time.Minute) }, ask: by("b", ""), domain: "x.example", want: holdings.Requested},
		"ClaimOver":    {reason: "and ends", do: func(s *stage) { s.Domain(by("a", ""), "x.example"); s.pass(65 * time.Second) }, ask: by("b", ""), domain: "x.example"},
		"Renewed": {reason: "but not with an earlier one", do: func(s *stage) {
			s.Domain(by("a", ""), "x.example")
			s.pass(time.Second)
			s.Domain(by("a", ""), "x.example")
			s.pass(64 * time.Second)
		}, ask: by("b", ""), domain: "x.example", want: holdings.Requested},
		"Overtaken": {reason: "a request that was overtaken is judged again, so its claim ends", do: func(s *stage) {
			s.wrote(is("a", "1"))
			s.Domain(by("a", "1"), "x.example")
			s.wrote(is("a", "2"))
		}, ask: by("b", ""), domain: "x.example"},
		"JudgedAgain": {reason: "the claim of a request that was judged on this write does not", do: func(s *stage) {
			s.wrote(is("a", "1"))
			s.Domain(by("a", "2"), "x.example")
			s.wrote(is("a", "2"))
		}, ask: by("b", ""), domain: "x.example", want: holdings.Requested},
		"Creation": {reason: "a creation may be on its way for a while", do: func(s *stage) {
			s.Domain(by("a", ""), "x.example")
			s.wrote(is("a", "1"))
			s.removed(is("a", "2"))
		}, ask: by("b", ""), domain: "x.example", want: holdings.Requested},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if tc.do != nil {
				tc.do(s)
			}
			if diff := cmp.Diff(tc.want, s.Domain(tc.ask, tc.domain)); diff != "" {
				t.Errorf("%s\nDomain(%v, %q) (-want +got):\n%s", tc.reason, tc.ask, tc.domain, diff)
			}
		})
	}
}

func TestPlace_API_SVAL_4(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		do     func(*stage)
		ask    holdings.Request
		others int64
		full   bool
	}{
		"Room":    {reason: "a seed with room has room", do: func(s *stage) { s.wrote(is("a", "1", seeds("s", ""))) }, ask: by("x", ""), others: 1},
		"Full":    {reason: "a full one has not", do: func(s *stage) { s.wrote(is("a", "1", seeds("s", "")), is("b", "2", seeds("s", ""))) }, ask: by("x", ""), others: 2, full: true},
		"Itself":  {reason: "a shoot does not count against itself", do: func(s *stage) { s.wrote(is("x", "1", seeds("", "s")), is("b", "2", seeds("s", ""))) }, ask: by("x", "1"), others: 1},
		"Running": {reason: "a shoot counts where it still runs", do: func(s *stage) { s.wrote(is("a", "1", seeds("t", "s")), is("b", "2", seeds("s", "s"))) }, ask: by("x", ""), others: 2, full: true},
		"Moved": {reason: "until it has moved", do: func(s *stage) {
			s.wrote(is("a", "1", seeds("t", "s")), is("a", "2", seeds("t", "t")), is("b", "3", seeds("s", "")))
		}, ask: by("x", ""), others: 1},
		"Gone": {reason: "or is gone", do: func(s *stage) {
			s.wrote(is("a", "1", seeds("s", "")), is("b", "2", seeds("s", "")))
			s.removed(is("a", "3"))
		}, ask: by("x", ""), others: 1},
		"Claimed": {reason: "requests on their way count", do: func(s *stage) { s.Place(by("a", "1"), "s", 2); s.Place(by("b", "2"), "s", 2) }, ask: by("x", ""), others: 2, full: true},
		"Written": {reason: "once when they have arrived", do: func(s *stage) { s.Place(by("a", "1"), "s", 2); s.wrote(is("a", "5", seeds("s", ""))) }, ask: by("x", ""), others: 1},
		"Elsewhere": {reason: "not at all when another seed was written", do: func(s *stage) {
			s.Place(by("a", "1"), "s", 2)
			s.wrote(is("a", "5", seeds("t", "")))
		}, ask: by("x", "")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			tc.do(s)
			if got := s.Others(tc.ask.Owner, "s"); got != tc.others {
				t.Errorf("%s\nOthers(...) = %d, want %d", tc.reason, got, tc.others)
			}
			others, free := s.Place(tc.ask, "s", 2)
			if others != tc.others || free == tc.full {
				t.Errorf("%s\nPlace(...) = %d, %t, want %d, %t", tc.reason, others, free, tc.others, !tc.full)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	s := &stage{Holdings: holdings.New(clock), ctx: t.Context(), clock: clock}
	if err := s.Load(t.Context(), func(context.Context) ([]shoot, error) { return nil, errBoom }); !errors.Is(err, errBoom) {
		t.Errorf("a list that fails is an error: %v", err)
	}
	s.wrote(is("newer", "9", domain("newer.example")))
	s.removed(is("gone", "8", domain("gone.example")))
	listed := []shoot{*is("newer", "5", domain("older.example")), *is("gone", "4", domain("gone.example"), seeds("s", "")), *is("there", "3", domain("there.example"), seeds("s", "r"))}
	for range 2 {
		if err := s.Load(t.Context(), func(context.Context) ([]shoot, error) { return listed, nil }); err != nil {
			t.Fatal(err)
		}
		listed = nil // It is listed once.
	}
	got := map[string]holdings.Verdict{}
	for _, name := range []string{"older.example", "newer.example", "gone.example", "there.example"} {
		got[name] = s.Domain(holdings.Request{Owner: "n/x", DryRun: true}, name)
	}
	if diff := cmp.Diff(map[string]holdings.Verdict{"older.example": holdings.Free, "newer.example": holdings.Used, "gone.example": holdings.Free, "there.example": holdings.Used}, got); diff != "" {
		t.Errorf("What was written meanwhile is newer than the list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"n/newer", "n/there"}, s.All()); diff != "" {
		t.Errorf("All() (-want +got):\n%s", diff)
	}
	s.Place(by("claims", "7"), "s", 10)
	if diff := cmp.Diff([]string{"n/there"}, s.On("s")); diff != "" {
		t.Errorf("claims are no shoots; On(s) (-want +got):\n%s", diff)
	}
	s.pass(2 * time.Minute)
	s.wrote(is("gone", "20", domain("gone.example")))
	if got := s.Domain(by("x", ""), "gone.example"); got != holdings.Used {
		t.Errorf("a shoot may come again: %v", got)
	}
}

// TestAtOnce has many requests for the same domains and places, some of which are written.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	const requests, limit = 400, 37
	s := newStage(t)
	var version atomic.Uint64
	var same, placed atomic.Int64
	var group sync.WaitGroup
	for n := range requests {
		group.Go(func() {
			name := fmt.Sprintf("c%d", n)
			judged := fmt.Sprint(version.Add(1))
			if s.Domain(by(name, ""), []string{"x.example", "a.x.example", "b.a.x.example"}[n%3]) == holdings.Free {
				same.Add(1)
			}
			if _, free := s.Place(by(name, judged), "s", limit); free {
				placed.Add(1)
				s.wrote(is(name, fmt.Sprint(version.Add(1)), seeds("s", "")))
			}
		})
	}
	group.Wait()
	if got := same.Load(); got != 1 {
		t.Errorf("%d requests got the domain, want 1", got)
	}
	if got := placed.Load(); got != limit {
		t.Errorf("%d shoots got a place, want %d", got, limit)
	}
	if got := len(s.On("s")); got != limit {
		t.Errorf("%d shoots are on the seed, want %d", got, limit)
	}
}
