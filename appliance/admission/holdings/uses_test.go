// SPDX-License-Identifier: Apache-2.0

package holdings_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/terrarium-garden/terrarium/appliance/admission/holdings"
	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
)

func cpu(n int64) corev1.ResourceList {
	return corev1.ResourceList{"cpu": *resource.NewQuantity(n, resource.DecimalSI)}
}

// uses asks for processors of a quota of ten beside listed shoots.
func (s *stage) uses(r holdings.Request, n int64, listed map[string]holdings.Listed) error {
	return s.Use(r, []holdings.Use{{Quota: "q", Wanted: cpu(n), Listed: listed}}, func(_ int, others corev1.ResourceList) error {
		if there := others.Cpu().Value(); there+n > 10 {
			return fmt.Errorf("%d are used", there)
		}
		return nil
	})
}

func at(version string, n int64) holdings.Listed {
	return holdings.Listed{Version: version, Uses: cpu(n)}
}

func TestUse_API_QUOTA_4(t *testing.T) {
	t.Parallel()
	type listed = map[string]holdings.Listed
	must := func(s *stage, r holdings.Request, n int64, l listed) {
		if err := s.uses(r, n, l); err != nil {
			panic(err)
		}
	}
	cases := map[string]struct {
		reason string
		do     func(*stage)
		listed listed
		// want is what the others use, as far as the request is concerned.
		want int64
	}{
		"Nobody":  {reason: "an empty quota"},
		"Listed":  {reason: "what is there counts", listed: listed{"n/a": at("1", 3), "n/b": at("2", 4)}, want: 7},
		"Itself":  {reason: "nobody counts against itself", do: func(s *stage) { must(s, by("x", ""), 5, nil) }, listed: listed{"n/x": at("9", 3)}},
		"Claimed": {reason: "a creation on its way counts", do: func(s *stage) { must(s, by("a", ""), 3, nil) }, want: 3},
		"DryRun": {reason: "what writes nothing claims nothing", do: func(s *stage) {
			must(s, holdings.Request{Owner: "n/a", DryRun: true}, 3, nil)
		}},
		"Refused": {reason: "nor does what is refused", do: func(s *stage) {
			if s.uses(by("a", ""), 11, nil) == nil {
				panic("it is allowed")
			}
		}},
		"RefusedLater": {reason: "nor what is refused by the next one", do: func(s *stage) {
			ended(by("a", ""), outcome.Refused, func(r holdings.Request) { must(s, r, 3, nil) })
		}},
		"RefusedAnswer": {reason: "an answer can be refused although the shoot was written", do: func(s *stage) {
			ended(by("a", ""), outcome.Refused, func(r holdings.Request) { must(s, r, 3, nil); s.wrote(is("a", "1")) })
		}, want: 3},
		"WrittenLater": {reason: "what is written may be missing in a list that was made before", do: func(s *stage) {
			ended(by("a", ""), outcome.Written, func(r holdings.Request) { must(s, r, 3, nil) })
		}, want: 3},
		"Arrived":   {reason: "a shoot that has arrived counts once, as it is", do: func(s *stage) { must(s, by("a", ""), 5, nil) }, listed: listed{"n/a": at("1", 3)}, want: 3},
		"Growing":   {reason: "an update on its way counts with what it asks for", do: func(s *stage) { must(s, by("a", "1"), 5, nil) }, listed: listed{"n/a": at("1", 3)}, want: 5},
		"Shrinking": {reason: "or with what is there as long as it is", do: func(s *stage) { must(s, by("a", "1"), 2, nil) }, listed: listed{"n/a": at("1", 3)}, want: 3},
		"Grown":     {reason: "a newer version is the outcome", do: func(s *stage) { must(s, by("a", "1"), 5, nil) }, listed: listed{"n/a": at("2", 4)}, want: 4},
		"Overtaken": {reason: "an older view is not", do: func(s *stage) { must(s, by("a", "5"), 5, nil) }, listed: listed{"n/a": at("4", 3)}, want: 5},
		"Moving":    {reason: "a shoot that gets the quota with another binding is in no list", do: func(s *stage) { must(s, by("a", "5"), 5, nil); s.wrote(is("a", "6")) }, want: 5},
		"Largest": {reason: "of several requests of a shoot the largest counts", do: func(s *stage) {
			must(s, by("a", ""), 2, nil)
			must(s, by("a", ""), 6, nil)
			must(s, by("a", ""), 4, nil)
		}, want: 6},
		"NotYetListed": {reason: "one that was written after the list was made counts", do: func(s *stage) { must(s, by("a", ""), 3, nil); s.wrote(is("a", "1")) }, want: 3},
		"Gone": {reason: "one that is gone does not", do: func(s *stage) {
			must(s, by("a", ""), 3, nil)
			s.wrote(is("a", "4"))
			s.removed(is("a", "5"))
		}},
		"GoneUpdate": {reason: "nor does an update of one that is gone", do: func(s *stage) { must(s, by("a", "3"), 3, nil); s.removed(is("a", "5")) }},
		"MayComeAgain": {reason: "one of two creations may come when the other is gone", do: func(s *stage) {
			must(s, by("a", ""), 3, nil)
			must(s, by("a", ""), 4, nil)
			s.wrote(is("a", "4"))
			s.removed(is("a", "5"))
		}, want: 4},
		"Recreated": {reason: "an update of the former one says nothing of the creation of the next one", do: func(s *stage) {
			must(s, by("a", "2"), 5, nil)
			must(s, by("a", ""), 3, nil)
			s.wrote(is("a", "6"))
			s.removed(is("a", "7"))
		}},
		"RefusedBefore": {reason: "nor does a creation that was refused", do: func(s *stage) {
			ended(by("a", ""), outcome.Refused, func(r holdings.Request) { must(s, r, 5, nil) })
			must(s, by("a", ""), 3, nil)
			s.wrote(is("a", "6"))
			s.removed(is("a", "7"))
		}},
		"Still": {reason: "a claim counts longer than two requests last", do: func(s *stage) { must(s, by("a", ""), 3, nil); s.pass(124 * time.Second) }, want: 3},
		"Over":  {reason: "and ends", do: func(s *stage) { must(s, by("a", ""), 3, nil); s.pass(125 * time.Second) }},
		"NotAll": {reason: "but not with an earlier one", do: func(s *stage) {
			must(s, by("a", ""), 3, nil)
			must(s, by("b", ""), 1, nil)
			s.pass(time.Minute)
			must(s, by("a", ""), 2, nil)
			s.pass(65 * time.Second)
		}, want: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			if tc.do != nil {
				tc.do(s)
			}
			ask := holdings.Request{Owner: "n/x", DryRun: true}
			if err := s.uses(ask, 10-tc.want, tc.listed); err != nil {
				t.Errorf("%s\n%d of 10 are free: %v", tc.reason, 10-tc.want, err)
			}
			if err := s.uses(ask, 11-tc.want, tc.listed); err == nil {
				t.Errorf("%s\n%d of 10 are not free", tc.reason, 11-tc.want)
			}
		})
	}
}

// TestUseOfTwoQuotas takes of both or of none.
func TestUseOfTwoQuotas_API_QUOTA_4(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	errFull := errors.New("it is full")
	both := []holdings.Use{{Quota: "one", Wanted: cpu(1)}, {Quota: "two", Wanted: cpu(1)}}
	seen := func(owner, quota string) (used int64) {
		_ = s.Use(by(owner, ""), []holdings.Use{{Quota: quota}}, func(_ int, others corev1.ResourceList) error {
			used = others.Cpu().Value()
			return errFull
		})
		return used
	}
	err := s.Use(by("a", ""), both, func(i int, _ corev1.ResourceList) error {
		if i == 1 {
			return errFull
		}
		return nil
	})
	if diff := cmp.Diff(errFull, err, cmpopts.EquateErrors()); diff != "" || strings.Contains(err.Error(), "requested") {
		t.Errorf("the second refuses it, with %v (-want +got):\n%s", err, diff)
	}
	if used := seen("x", "one"); used != 0 {
		t.Errorf("what is refused by the second is not taken of the first: %d used", used)
	}
	if err := s.Use(by("a", ""), both, func(int, corev1.ResourceList) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"one": 1, "two": 1}, map[string]int64{"one": seen("x", "one"), "two": seen("x", "two")}); diff != "" {
		t.Errorf("what is used by quota (-want +got):\n%s", diff)
	}
	if err := s.Use(by("a", ""), both[:1], func(int, corev1.ResourceList) error { return errFull }); err == nil || strings.Contains(err.Error(), "try again") {
		t.Errorf("nobody waits for itself: %v", err)
	}
	if err := s.Use(by("b", ""), both[:1], func(int, corev1.ResourceList) error { return errFull }); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Errorf("who meets requests on their way is told so: %v", err)
	}
}

// TestUseAtOnce has many requests for the same quota. Nothing that is listed shows the others.
func TestUseAtOnce_API_QUOTA_4(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var allowed atomic.Int64
	var group sync.WaitGroup
	for n := range 200 {
		group.Go(func() {
			if s.uses(by(fmt.Sprintf("c%d", n), ""), 2, map[string]holdings.Listed{"n/there": at("1", 1)}) == nil {
				allowed.Add(1)
			}
		})
	}
	group.Wait()
	if got := allowed.Load(); got != 4 {
		t.Errorf("%d requests were allowed, want 4", got)
	}
}
