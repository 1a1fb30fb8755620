// SPDX-License-Identifier: Apache-2.0

package shootstate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootstate"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

// halfway is a random time that is none.
func halfway(limit time.Duration) time.Duration { return limit / 2 }

func TestSettled_GLET_STATE_2(t *testing.T) {
	t.Parallel()
	last := func(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state}
		}
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot)
		want   bool
	}{
		"Reconciled":   {"it runs", last("Reconcile", "Succeeded"), true},
		"Reconciling":  {"it has been whole before", last("Reconcile", "Processing"), true},
		"Failed":       {"what is there may be needed all the more", last("Reconcile", "Failed"), true},
		"Created":      {"it has just become whole", last("Create", "Succeeded"), true},
		"Creating":     {"it is not whole yet", last("Create", "Processing"), false},
		"Create error": {"nor when its creation is tried again", last("Create", "Error"), false},
		"Nothing":      {"nobody has begun", func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation = nil }, false},
		"No place":     {"there is no namespace to look into", func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "" }, false},
		"To migrate":   {"the new seed is waiting for what the old one writes last", func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("other") }, false},
		"Migrating":    {"what is written last is in the migration", last("Migrate", "Processing"), false},
		"Migrated":     {"the new seed reads it", last("Migrate", "Succeeded"), false},
		"Restoring":    {"and not all is restored", last("Restore", "Error"), false},
		"Restored":     {"now all is there", last("Restore", "Succeeded"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sprout(tc.change)
			if got := shootstate.Settled(s); got != tc.want {
				t.Errorf("%s\nSettled(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestDue_GLET_STATE_2(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		period time.Duration
		last   time.Time
		want   time.Duration
	}{
		"Never":     {reason: "it was never written", period: 6 * time.Hour},
		"Just now":  {reason: "a whole period is left", period: 6 * time.Hour, last: noon(), want: 6 * time.Hour},
		"Long ago":  {reason: "the gardenlet has not run for days", period: 6 * time.Hour, last: noon().Add(-48 * time.Hour)},
		"Early":     {reason: "the random part of the time was the shortest", period: 6 * time.Hour, last: noon().Add(-5*time.Hour - 45*time.Minute)},
		"Too early": {reason: "no random part is shorter", period: 6 * time.Hour, last: noon().Add(-5*time.Hour - 44*time.Minute), want: 16 * time.Minute},
		"To come":   {reason: "no clock has shown this time, and the next write sets it right", period: 6 * time.Hour, last: noon().Add(time.Hour)},
		"Short":     {reason: "the random part would be longer than the period", period: 4 * time.Minute, last: noon().Add(-2 * time.Minute), want: 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (shootstate.Schedule{Period: tc.period, Random: halfway}).Due(tc.last, noon()); got != tc.want {
				t.Errorf("%s\nDue(...) = %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNext_GLET_STATE_2(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		period, shortest, longest time.Duration
	}{
		{6 * time.Hour, 5*time.Hour + 45*time.Minute, 6*time.Hour + 15*time.Minute},
		{4 * time.Minute, 3 * time.Minute, 5 * time.Minute},
		{0, 0, 0},
	} {
		shortest := shootstate.Schedule{Period: tc.period, Random: func(time.Duration) time.Duration { return 0 }}.Next()
		longest := shootstate.Schedule{Period: tc.period, Random: func(limit time.Duration) time.Duration { return limit }}.Next()
		if shortest != tc.shortest || longest != tc.longest {
			t.Errorf("Next() with a period of %s is from %s to %s, want from %s to %s", tc.period, shortest, longest, tc.shortest, tc.longest)
		}
	}
}

// waits is a queue that remembers how long what is added to it waits.
type waits struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	of map[string]time.Duration
}

func (w waits) Add(r reconcile.Request) { w.of[r.Name] = 0 }

func (w waits) AddAfter(r reconcile.Request, after time.Duration) { w.of[r.Name] = after }

// TestManyAreSpread_GLET_STATE_2: ten thousand shoots that a gardenlet finds when it starts are looked at one after the other.
func TestManyAreSpread_GLET_STATE_2(t *testing.T) {
	t.Parallel()
	r := &shootstate.Reconciler{
		SeedBase: kit.SeedBase{SeedName: "one"}, Random: rand.N[time.Duration],
		Config: &gardenconfigv1alpha1.ShootStateControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: 6 * time.Hour}},
	}
	q, on := waits{of: map[string]time.Duration{}}, r.Arrivals()
	for i := range 10_000 {
		s := sprout(func(s *gardencorev1beta1.Shoot) { s.Name = fmt.Sprintf("s%d", i) })
		on.Create(t.Context(), event.CreateEvent{Object: s, IsInInitialList: true}, q)
	}
	perMinute := map[time.Duration]int{}
	for _, after := range q.of {
		perMinute[after/time.Minute]++
	}
	for minute, n := range perMinute {
		if n > 300 || minute >= 60 {
			t.Errorf("%d of 10000 shoots come in minute %d, want them spread over an hour", n, minute)
		}
	}
	if len(q.of) != 10_000 {
		t.Errorf("%d shoots come, want 10000", len(q.of))
	}

	elsewhere := sprout(func(s *gardencorev1beta1.Shoot) { s.Name, s.Status.SeedName = "moves", new("other") })
	created := sprout(func(s *gardencorev1beta1.Shoot) { s.Name = "created" })
	q.of = map[string]time.Duration{}
	on.Create(t.Context(), event.CreateEvent{Object: created}, q)
	on.Create(t.Context(), event.CreateEvent{Object: elsewhere}, q)
	if _, came := q.of["created"]; !came || len(q.of) != 1 {
		t.Errorf("enqueued %v, want the new shoot of this seed and not that of another", q.of)
	}
	arrived := elsewhere.DeepCopy()
	arrived.Status.SeedName = new("one")
	on.Update(t.Context(), event.UpdateEvent{ObjectOld: elsewhere, ObjectNew: arrived}, q)
	on.Update(t.Context(), event.UpdateEvent{ObjectOld: created, ObjectNew: created}, waits{})
	if _, came := q.of["moves"]; !came {
		t.Errorf("enqueued %v, want the shoot that comes from another seed", q.of)
	}
}
