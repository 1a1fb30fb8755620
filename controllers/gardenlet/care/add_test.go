// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// diary is a queue that notes the delays with which shoots are to be looked at.
type diary struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	delays []time.Duration
}

func newDiary(t *testing.T) *diary {
	t.Helper()
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request](),
		workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Clock: clocktesting.NewFakeClock(time.Unix(0, 0))})
	t.Cleanup(queue.ShutDown)

	return &diary{TypedRateLimitingInterface: queue}
}

func (d *diary) Add(reconcile.Request) { d.delays = append(d.delays, 0) }

func (d *diary) AddAfter(_ reconcile.Request, delay time.Duration) {
	d.delays = append(d.delays, delay)
}

// TestStartIsSpread_GLET_CARE_1 starts with many shoots that were looked at before: their checks are spread over one period. A shoot
// that nobody has acted on yet is checked at once.
func TestStartIsSpread_GLET_CARE_1(t *testing.T) {
	t.Parallel()
	w, q := newWard(t, shoot()), newDiary(t)
	s := shoot()
	s.Generation, s.Status.ObservedGeneration = 3, 3
	const many = 400
	for range many {
		w.Events().Create(t.Context(), event.TypedCreateEvent[*gardencorev1beta1.Shoot]{Object: s, IsInInitialList: true}, q)
	}
	quarters := map[time.Duration]int{}
	for _, delay := range q.delays {
		quarters[delay/(15*time.Second)]++
	}
	for quarter := range time.Duration(4) {
		// 100 are expected in each. Fewer than 40 are less likely than a broken machine.
		if quarters[quarter] < many/10 {
			t.Errorf("%d of %d shoots are looked at in quarter %d of the first minute", quarters[quarter], many, quarter+1)
		}
	}
	if len(quarters) != 4 || len(q.delays) != many {
		t.Errorf("%d checks in quarters %v, want %d in the first minute", len(q.delays), quarters, many)
	}

	q.delays = nil
	s.Generation = 4
	w.Events().Create(t.Context(), event.TypedCreateEvent[*gardencorev1beta1.Shoot]{Object: s}, q)
	if diff := gocmp.Diff([]time.Duration{0}, q.delays); diff != "" {
		t.Errorf("delays of a new shoot (-want +got):\n%s", diff)
	}
}

// TestLooksAfterSuccess_GLET_CARE_1 lists the changes of a shoot after which it is checked at once.
func TestLooksAfterSuccess_GLET_CARE_1(t *testing.T) {
	t.Parallel()
	state := func(state gardencorev1beta1.LastOperationState) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: state}
		}
	}
	on := func(seed *string) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName, s.Status.SeedName = seed, nil }
	}
	cases := map[string]struct {
		reason        string
		before, after func(*gardencorev1beta1.Shoot)
		want          int
	}{
		"Succeeded": {reason: "an operation has changed what is checked", before: state("Processing"), after: state("Succeeded"), want: 1},
		"Still":     {reason: "nothing has changed since", before: state("Succeeded"), after: state("Succeeded")},
		"Progress":  {reason: "the operation is not over", before: state("Processing"), after: state("Processing")},
		"Failed":    {reason: "the next look is soon enough", before: state("Processing"), after: state("Error")},
		"Bound":     {reason: "the shoot is new on this seed", before: on(nil), after: on(new("eu-1")), want: 1},
		"Elsewhere": {reason: "another gardenlet looks at it", before: on(nil), after: on(new("eu-2"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, q := newWard(t, shoot()), newDiary(t)
			before, after := shoot(), shoot()
			tc.before(before)
			tc.after(after)
			w.Events().Update(t.Context(), event.TypedUpdateEvent[*gardencorev1beta1.Shoot]{ObjectOld: before, ObjectNew: after}, q)
			if diff := gocmp.Diff(make([]time.Duration, tc.want), append([]time.Duration{}, q.delays...)); diff != "" {
				t.Errorf("%s\ndelays (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
