// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"fmt"
	"strings"
	"testing"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kit/kittest"
	"github.com/terrarium-garden/terrarium/controllers/scheduler"
)

func TestDecideStrategy(t *testing.T) {
	t.Parallel()
	runDecide(t, map[string]decideCase{
		"SCHED-STRAT-1 testing ignores the region": {
			reason: "a shoot for testing goes anywhere at its provider",
			shoot:  newShoot(forTesting),
			seeds:  []seed{newSeed("a", region("us-east-1"))},
			want:   "a",
		},
		"SCHED-STRAT-1 other purposes": {
			reason: "a shoot for anything else stays in its region",
			shoot:  newShoot(func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeProduction) }),
			seeds:  []seed{newSeed("a", region("us-east-1"))},
			why:    map[string]string{"a": `it is in region "us-east-1", the shoot is in "eu-west-1"`},
		},
		"SCHED-STRAT-2 same region": {
			reason: "only seeds of the region are taken",
			seeds:  []seed{newSeed("a", region("eu-west-2")), newSeed("b")},
			want:   "b",
		},
		"SCHED-STRAT-2 same provider": {
			reason:  "the profile may allow other providers, same region still means same provider",
			profile: newProfile(providerTypes("*")),
			seeds:   []seed{newSeed("a", providerType("other"))},
			why:     map[string]string{"a": `its provider type is "other", the shoot needs "local"`},
		},
		"SCHED-STRAT-3 minimal distance": {
			reason:  "the nearest region wins over the less used seed",
			nearest: true,
			seeds:   []seed{newSeed("a", region("us-east-1")), newSeed("b", region("eu-west-2"))},
			shoots:  []shoot{on("b", "")},
			want:    "b",
		},
		"SCHED-STRAT-3 farther later": {
			reason:  "a seed farther away is not taken either when it comes after the nearest one",
			nearest: true,
			seeds:   []seed{newSeed("a", region("eu-west-2")), newSeed("b", region("us-east-1"))},
			shoots:  []shoot{on("a", "")},
			want:    "a",
		},
		"SCHED-STRAT-3 equal distance": {
			reason:  "all seeds of the smallest distance stay, so usage decides between them",
			nearest: true,
			seeds:   []seed{newSeed("a", region("eu-west-2")), newSeed("b", region("eu-west-3")), newSeed("c", region("us-1"))},
			shoots:  []shoot{on("a", "")},
			want:    "b",
		},
		"SCHED-STRAT-3 equal distance, first less used": {
			reason:  "a later seed of the same distance does not push out an earlier one",
			nearest: true,
			seeds:   []seed{newSeed("a", region("eu-west-2")), newSeed("b", region("eu-west-3"))},
			shoots:  []shoot{on("b", "")},
			want:    "a",
		},
		"SCHED-REGION-2 smallest": {
			reason:    "what the garden says counts, not the names of regions, and ties stay",
			nearest:   true,
			distances: map[string]int{"eu-west-1": 0, "eu-west-2": 60, "us-1": 20, "us-2": 20},
			seeds:     []seed{newSeed("a", region("eu-west-2")), newSeed("b", region("us-1")), newSeed("c", region("us-2"))},
			shoots:    []shoot{on("b", "")},
			want:      "c",
		},
		"SCHED-REGION-2 unknown region": {
			reason:    "a region of which the garden says nothing is not considered, however near its name",
			nearest:   true,
			distances: map[string]int{"eu-west-1": 0, "us-1": 2000},
			seeds:     []seed{newSeed("a", region("eu-west-2")), newSeed("b", region("us-1"))},
			want:      "b",
		},
		"SCHED-REGION-2 no candidate": {
			reason:    "names are compared when the garden says nothing of any candidate",
			nearest:   true,
			distances: map[string]int{"eu-west-1": 0, "ap-1": 5},
			seeds:     []seed{newSeed("a", region("us-1")), newSeed("b", region("eu-west-2"))},
			want:      "b",
		},
		"SCHED-REGION-2 same region": {
			reason:    "the other strategy does not ask for distances",
			distances: map[string]int{"eu-west-1": 50, "us-1": 0},
			seeds:     []seed{newSeed("a"), newSeed("b", region("us-1"))},
			want:      "a",
		},
		"SCHED-DIST-5 too far": {
			reason:  "a distance above 1000 is never chosen",
			nearest: true,
			seeds:   []seed{newSeed("a", region(strings.Repeat("x", 600)))},
			why:     map[string]string{"a": fmt.Sprintf(`its region %q is too far from "eu-west-1" (distance 1201)`, strings.Repeat("x", 600))},
		},
		"SCHED-DIST-5 just near enough": {
			reason:  "all seeds at 1000 stay, and of them the one with the fewest shoots is taken",
			nearest: true,
			seeds:   []seed{newSeed("a", region("south"+strings.Repeat("x", 498))), newSeed("b", region("south"+strings.Repeat("y", 498)))},
			shoots:  []shoot{on("a", "")},
			want:    "b",
		},
		"SCHED-STRAT-5 least used": {
			reason: "the seed with the fewest shoots wins",
			seeds:  []seed{newSeed("a"), newSeed("b")},
			shoots: []shoot{on("a", "")},
			want:   "b",
		},
		"SCHED-STRAT-5 tie": {
			reason: "of equally used seeds the first by name wins, whatever the order of the list",
			seeds:  []seed{newSeed("c"), newSeed("a"), newSeed("b")},
			want:   "a",
		},
		"SCHED-USAGE-1 migrating shoot": {
			reason: "a shoot counts for the seed it leaves as well as for the one it goes to, and once when both are the same",
			seeds:  []seed{newSeed("a"), newSeed("b")},
			shoots: []shoot{on("c", "a"), on("a", ""), on("b", "b")},
			want:   "b",
		},
		"SCHED-USAGE-1 without a seed name": {
			reason: "a shoot that no longer names a seed counts for the one that still runs it",
			seeds:  []seed{newSeed("a"), newSeed("b")},
			shoots: []shoot{on("", "a")},
			want:   "b",
		},
		"SCHED-USAGE-1 in deletion": {
			reason: "a shoot in deletion takes up room until it is gone",
			seeds:  []seed{newSeed("a"), newSeed("b")},
			shoots: []shoot{inDeletion(on("a", ""))},
			want:   "b",
		},
	})
}

func TestParseStrategy(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		name   string
		want   scheduler.Strategy
		fails  bool
	}{
		"SCHED-PROC-2 default":  {reason: "nothing configured", want: scheduler.SameRegion},
		"SCHED-PROC-3 known":    {reason: "a strategy by its name", name: "MinimalDistance", want: scheduler.MinimalDistance},
		"SCHED-PROC-3 misspelt": {reason: "an unknown one is refused at the start", name: "Nearest", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := scheduler.ParseStrategy(tc.name)
			if (err != nil) != tc.fails || got != tc.want {
				t.Errorf("%s\nParseStrategy(%q) = %q, %v; want %q, failure %t", tc.reason, tc.name, got, err, tc.want, tc.fails)
			}
		})
	}
}

func TestStrategyOfTheConfiguration_SCHED_PROC_3(t *testing.T) {
	t.Parallel()
	for strategy, fails := range map[string]bool{"": false, "MinimalDistance": false, "Nearest": true} {
		o := newOffice(t)
		o.Config.CandidateDeterminationStrategy, o.Picture = gardenconfigv1alpha1.CandidateDeterminationStrategy(strategy), nil
		err := o.AddToManager(kit.Clusters{Garden: kittest.NewCluster(t, kinds(t)).Manager})
		if fails != (err != nil) {
			t.Errorf("A scheduler only starts with a strategy that it knows.\nAddToManager(...) with %q = %v, want an error: %t", strategy, err, fails)
		}
		if !fails && o.Picture == nil {
			t.Errorf("A scheduler that starts with %q has a picture of its own.", strategy)
		}
	}
}
