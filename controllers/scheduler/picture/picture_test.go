// SPDX-License-Identifier: Apache-2.0

package picture_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/event"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/scheduler/picture"
)

type (
	seed  = gardencorev1beta1.Seed
	shoot = gardencorev1beta1.Shoot
	usage = picture.Usage
)

var errFull = errors.New("full")

func named(name string) *seed { return &seed{ObjectMeta: metav1.ObjectMeta{Name: name}} }

// at is shoot x with its seeds in spec and status.
func at(spec, status string, change ...func(*shoot)) *shoot {
	s := &shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "x", UID: "1"}}
	if spec != "" {
		s.Spec.SeedName = &spec
	}
	if status != "" {
		s.Status.SeedName = &status
	}
	for _, c := range change {
		c(s)
	}
	return s
}

// namesake is a shoot that was created after one of the same name was deleted.
func namesake(s *shoot) { s.UID = "2" }

func called(name string) func(*shoot) { return func(s *shoot) { s.Name = name } }

func leaving(s *shoot) { s.DeletionTimestamp = new(metav1.Now()) }

// stage is a picture with a clock and what was said about attempts.
type stage struct {
	*picture.Picture

	ctx   context.Context
	clock *clocktesting.FakePassiveClock
	errs  []error
}

func (s *stage) assume(who *shoot, name string) {
	_, err := s.Assume(who, func(usage) (string, error) { return name, nil })
	s.errs = append(s.errs, err)
}

func TestUsage_SCHED_USAGE_1(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		do     func(*stage)
		want   usage
		errs   []error
	}{
		"Add":         {reason: "a shoot counts where it is bound", do: func(s *stage) { s.SetShoot(at("a", "")) }, want: usage{"a": 1}},
		"NoSeed":      {reason: "a shoot without a seed counts nowhere", do: func(s *stage) { s.SetShoot(at("", "")) }},
		"StatusOnly":  {reason: "a shoot counts where it still runs", do: func(s *stage) { s.SetShoot(at("", "b")) }, want: usage{"b": 1}},
		"Both":        {reason: "once where both are one", do: func(s *stage) { s.SetShoot(at("a", "a")) }, want: usage{"a": 1}},
		"InDeletion":  {reason: "until it is gone", do: func(s *stage) { s.SetShoot(at("a", "", leaving)) }, want: usage{"a": 1}},
		"Update":      {reason: "the same shoot again is the same", do: func(s *stage) { s.SetShoot(at("a", "")); s.SetShoot(at("a", "a")) }, want: usage{"a": 1}},
		"Move":        {reason: "a move takes up room on both seeds", do: func(s *stage) { s.SetShoot(at("a", "a")); s.SetShoot(at("b", "a")) }, want: usage{"a": 1, "b": 1}},
		"MoveDone":    {reason: "until it is over", do: func(s *stage) { s.SetShoot(at("b", "a")); s.SetShoot(at("b", "b")) }, want: usage{"b": 1}},
		"Delete":      {reason: "a shoot that is gone counts nowhere", do: func(s *stage) { s.SetShoot(at("b", "a")); s.RemoveShoot(at("b", "a")) }},
		"DeleteTwice": {reason: "nor less than nowhere", do: func(s *stage) { s.SetShoot(at("a", "")); s.RemoveShoot(at("a", "")); s.RemoveShoot(at("a", "")) }},
		"Others": {reason: "shoots are counted by name", do: func(s *stage) {
			s.SetShoot(at("a", ""))
			s.SetShoot(at("a", "", called("y")))
			s.SetShoot(at("b", "", called("z")))
			s.RemoveShoot(at("a", ""))
		}, want: usage{"a": 1, "b": 1}},
		"SeedRemoved": {reason: "the shoots of a seed count although it is gone", do: func(s *stage) { s.SetShoot(at("a", "")); s.RemoveSeed("a") }, want: usage{"a": 1}},

		"Assumed":          {reason: "a placement counts before it is written", do: func(s *stage) { s.assume(at("", ""), "a") }, want: usage{"a": 1}, errs: []error{nil}},
		"AssumedUnchanged": {reason: "an event about something else does not end it", do: func(s *stage) { s.assume(at("", ""), "a"); s.SetShoot(at("", "")) }, want: usage{"a": 1}, errs: []error{nil}},
		"AssumedConfirmed": {reason: "nor counts it twice when a watch shows it", do: func(s *stage) { s.assume(at("", ""), "a"); s.Written(at("", "")); s.SetShoot(at("a", "")) }, want: usage{"a": 1}, errs: []error{nil}},
		"AssumedElsewhere": {reason: "another scheduler was faster", do: func(s *stage) { s.assume(at("", ""), "a"); s.SetShoot(at("b", "")) }, want: usage{"b": 1}, errs: []error{nil}},
		"AssumedRefused":   {reason: "a refusal ends it", do: func(s *stage) { s.assume(at("", ""), "a"); s.Forget(at("", "")) }, errs: []error{nil}},
		"RefusedTooLate":   {reason: "a shoot that was seen with its seed stays there", do: func(s *stage) { s.assume(at("", ""), "a"); s.SetShoot(at("a", "")); s.Forget(at("", "")) }, want: usage{"a": 1}, errs: []error{nil}},
		"AssumedDeleted":   {reason: "so does the end of the shoot", do: func(s *stage) { s.assume(at("", ""), "a"); s.RemoveShoot(at("", "")) }, errs: []error{nil}},
		"AssumedAgain":     {reason: "another choice takes the place of the first", do: func(s *stage) { s.assume(at("", ""), "a"); s.assume(at("", ""), "b") }, want: usage{"b": 1}, errs: []error{nil, nil}},
		"AssumedWhereItRan": {reason: "once where the shoot counts anyway", do: func(s *stage) {
			s.SetShoot(at("", "a"))
			s.assume(at("", "a"), "a")
		}, want: usage{"a": 1}, errs: []error{nil}},
		"Expired": {reason: "what no watch ever shows was not written", do: func(s *stage) {
			s.assume(at("", ""), "a")
			s.clock.SetTime(s.clock.Now().Add(picture.Expiry))
			s.assume(at("", "", called("y")), "b")
		}, want: usage{"b": 1}, errs: []error{nil, nil}},
		"NotYetExpired": {reason: "but it takes its time", do: func(s *stage) {
			s.assume(at("", ""), "a")
			s.clock.SetTime(s.clock.Now().Add(picture.Expiry - time.Second))
			s.assume(at("", "", called("y")), "b")
		}, want: usage{"a": 1, "b": 1}, errs: []error{nil, nil}},
		"RenewedNotExpired": {reason: "an assumption does not expire with an earlier one", do: func(s *stage) {
			s.assume(at("", ""), "a")
			s.clock.SetTime(s.clock.Now().Add(time.Second))
			s.assume(at("", ""), "a")
			s.clock.SetTime(s.clock.Now().Add(picture.Expiry - time.Second))
		}, want: usage{"a": 1}, errs: []error{nil, nil}},

		"Placed":       {reason: "SCHED-SEL-2: a shoot with a seed gets no other", do: func(s *stage) { s.SetShoot(at("a", "")); s.assume(at("", ""), "b") }, want: usage{"a": 1}, errs: []error{picture.ErrPlaced}},
		"PlacedUnseen": {reason: "nor does one whose binding was accepted", do: func(s *stage) { s.assume(at("", ""), "a"); s.Written(at("", "")); s.assume(at("", ""), "b") }, want: usage{"a": 1}, errs: []error{nil, picture.ErrPlaced}},
		"Namesake":     {reason: "a new shoot of the same name has none yet, although the end of the first one is not seen yet", do: func(s *stage) { s.SetShoot(at("a", "")); s.assume(at("", "", namesake), "b") }, want: usage{"a": 1, "b": 1}, errs: []error{nil}},
		"NamesakeStays": {reason: "and keeps its own when it is seen", do: func(s *stage) {
			s.SetShoot(at("a", ""))
			s.assume(at("", "", namesake), "b")
			s.RemoveShoot(at("a", ""))
		}, want: usage{"b": 1}, errs: []error{nil}},
		"NamesakeLate": {reason: "what comes late of the first one does not end it", do: func(s *stage) { s.assume(at("", "", namesake), "b"); s.SetShoot(at("a", "")); s.Forget(at("", "")) }, want: usage{"a": 1, "b": 1}, errs: []error{nil}},
		"NamesakePlaced": {reason: "the binding of the first one is none of the second", do: func(s *stage) {
			s.assume(at("", ""), "a")
			s.Written(at("", ""))
			s.assume(at("", "", namesake), "b")
		}, want: usage{"b": 1}, errs: []error{nil, nil}},
		"NamesakeThere": {reason: "a name takes up the room of one shoot on a seed", do: func(s *stage) { s.assume(at("", ""), "a"); s.SetShoot(at("a", "", namesake)) }, want: usage{"a": 1}, errs: []error{nil}},
		"Changed": {reason: "a change of a shoot is not its end", do: func(s *stage) {
			s.assume(at("", ""), "a")
			s.OfShoots().Update(s.ctx, event.UpdateEvent{ObjectOld: at("", ""), ObjectNew: at("", "")}, nil)
		}, want: usage{"a": 1}, errs: []error{nil}},
		"Recreated": {reason: "a deletion that no watch has shown is one nevertheless", do: func(s *stage) {
			s.assume(at("", ""), "a")
			s.OfShoots().Update(s.ctx, event.UpdateEvent{ObjectOld: at("", ""), ObjectNew: at("", "", namesake)}, nil)
		}, errs: []error{nil}},
		"Restart": {reason: "the first list is all that a new process needs", do: func(s *stage) {
			s.assume(at("", "", called("lost")), "a")
			s.Picture = picture.New(s.clock)
			for _, one := range []*shoot{at("a", "a"), at("b", "a", called("y")), at("", "", called("lost"))} {
				s.OfShoots().Create(s.ctx, event.CreateEvent{Object: one}, nil)
			}
		}, want: usage{"a": 2, "b": 1}, errs: []error{nil}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
			s := &stage{Picture: picture.New(clock), ctx: t.Context(), clock: clock}
			tc.do(s)
			got := usage{}
			for _, name := range []string{"a", "b"} {
				if n := s.Used(name); n != 0 {
					got[name] = n
				}
			}
			if tc.want == nil {
				tc.want = usage{}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nusage (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.errs, s.errs, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" {
				t.Errorf("%s\nerrors of attempts (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSeeds_SCHED_BIND_4 has no queue: a thousand shoots must not be tried again for every heartbeat of a seed.
func TestSeeds_SCHED_BIND_4(t *testing.T) {
	t.Parallel()
	p := picture.New(clocktesting.NewFakePassiveClock(time.Now()))
	names := func(seeds []*seed) (all []string) {
		for _, s := range seeds {
			all = append(all, s.Name+s.Labels["v"])
		}
		return all
	}
	for _, name := range []string{"c", "a", "b"} {
		p.OfSeeds().Create(t.Context(), event.CreateEvent{Object: named(name)}, nil)
	}
	before := p.Seeds()
	changed := named("b")
	changed.Labels = map[string]string{"v": "2"}
	p.OfSeeds().Update(t.Context(), event.UpdateEvent{ObjectOld: named("b"), ObjectNew: changed}, nil)
	p.OfSeeds().Delete(t.Context(), event.DeleteEvent{Object: named("a")}, nil)
	p.OfSeeds().Create(t.Context(), event.CreateEvent{Object: named("d")}, nil)
	if diff := cmp.Diff([]string{"b2", "c", "d"}, names(p.Seeds())); diff != "" {
		t.Errorf("seeds are sorted and replaced (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names(before)); diff != "" {
		t.Errorf("what a reader holds does not change (-want +got):\n%s", diff)
	}
}

func TestNoSeedFits(t *testing.T) {
	t.Parallel()
	p := picture.New(clocktesting.NewFakePassiveClock(time.Now()))
	if _, err := p.Assume(at("", ""), func(usage) (string, error) { return "", errFull }); !errors.Is(err, errFull) {
		t.Errorf("Assume(...) = %v, want the error of the choice", err)
	}
	if got := p.Used(""); got != 0 {
		t.Errorf("nothing is assumed then, got %d", got)
	}
}

// TestAtOnce_SCHED_FILT_10 places shoots by many workers, with events in between.
func TestAtOnce_SCHED_FILT_10(t *testing.T) {
	t.Parallel()
	const shoots, workers, seeds, room = 1000, 16, 10, 99
	p := picture.New(clocktesting.NewFakePassiveClock(time.Now()))
	choose := func(used usage) (string, error) {
		best := ""
		for n := range seeds {
			if name := fmt.Sprint(n); used[name] < room && (best == "" || used[name] < used[best]) {
				best = name
			}
		}
		if best == "" {
			return "", errFull
		}
		return best, nil
	}
	work := make(chan int)
	var refused sync.Map
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for n := range work {
				waiting := at("", "", called(fmt.Sprint(n)))
				name, err := p.Assume(waiting, choose)
				if err != nil {
					refused.Store(n, err)
					continue
				}
				if n%7 == 0 { // A conflict, and once more.
					p.Forget(waiting)
					if name, err = p.Assume(waiting, choose); err != nil {
						refused.Store(n, err)
						continue
					}
				}
				p.Written(waiting)
				p.SetSeed(named(name))
				p.SetShoot(at(name, "", called(fmt.Sprint(n))))
			}
		})
	}
	for n := range shoots {
		work <- n
	}
	close(work)
	group.Wait()
	for n := range seeds {
		if got := p.Used(fmt.Sprint(n)); got != room {
			t.Errorf("seed %d has %d shoots, want as many as there is room for", n, got)
		}
	}
	left := 0
	refused.Range(func(_, _ any) bool { left++; return true })
	if left != shoots-seeds*room {
		t.Errorf("%d shoots found no seed, want those for which there is no room", left)
	}
}

// TestAgain_SCHED_SEL_3 places shoots again whose earlier placement is not known to have failed.
func TestAgain_SCHED_SEL_3(t *testing.T) {
	t.Parallel()
	p := picture.New(clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
	var seen []usage
	place := func(who *shoot) {
		t.Helper()
		_, err := p.Assume(who, func(used usage) (string, error) {
			seen = append(seen, maps.Clone(used))
			return "a", nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	place(at("", ""))
	place(at("", ""))
	p.Written(at("", "", namesake))
	place(at("", ""))
	p.Forget(at("", ""))
	place(at("", "", called("y")))
	if diff := cmp.Diff([]usage{{}, {}, {}, {}}, seen); diff != "" {
		t.Errorf("a shoot does not count against itself, a namesake does not place it, and nothing is left of it (-want +got):\n%s", diff)
	}
}
