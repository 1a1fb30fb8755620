// SPDX-License-Identifier: Apache-2.0

package hibernation_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/hibernation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func at(day, hour, minute, second int) time.Time {
	return time.Date(2026, 3, day, hour, minute, second, 0, time.UTC)
}

// nightly sleeps from the start to the end.
func nightly(start, end string) gardencorev1beta1.HibernationSchedule {
	return gardencorev1beta1.HibernationSchedule{Start: &start, End: &end}
}

// night is what a pass leaves behind.
type night struct {
	Asleep bool
	// Noted is when a schedule was last carried out.
	Noted time.Time
	// Next is when the shoot is looked at again.
	Next time.Duration
	// Event is the event that was recorded, if there is one.
	Event string
}

// TestPass looks at a shoot once, a minute after a schedule wanted it to sleep.
func TestPass(t *testing.T) {
	t.Parallel()
	now := at(9, 20, 1, 0)
	// The morning is waited for in steps, because timers do not run while a machine is suspended.
	const untilMorning = 10 * time.Minute
	asleep := night{Asleep: true, Noted: now, Next: untilMorning, Event: "Normal Hibernated A schedule puts the cluster to sleep"}
	awake := night{Next: untilMorning}
	failed := func(generation int64) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Generation, s.Status.ObservedGeneration = generation, 1
			s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Failed"}
		}
	}
	triggered := func(when time.Time) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) { s.Status.LastHibernationTriggerTime = new(metav1.NewTime(when)) }
	}
	marked := func(when time.Time) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Annotations = map[string]string{"shoot.gardener.cloud/hibernation-trigger-timestamp": when.Format(time.RFC3339)}
		}
	}
	missed := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Hibernation.Schedules = []gardencorev1beta1.HibernationSchedule{nightly("0 18 * * *", "0 6 * * *")}
	}
	for name, tc := range map[string]struct {
		reason   string
		change   func(*gardencorev1beta1.Shoot)
		deadline time.Duration
		want     night
	}{
		"GCM-HIBER-4 sleep": {reason: "it is put to sleep, which is noted and told", want: asleep},
		"GCM-HIBER-4 sleeps already": {
			reason: "one that sleeps gets it noted and told as well", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Hibernation.Enabled = new(true) },
			want: asleep,
		},
		"GCM-HIBER-4 wake": {
			reason: "it is woken up, which is noted and told",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true), Schedules: []gardencorev1beta1.HibernationSchedule{nightly("0 6 * * *", "0 20 * * *")}}
			},
			want: night{Noted: now, Next: untilMorning, Event: "Normal WokenUp A schedule wakes the cluster up"},
		},
		"GCM-HIBER-1 in deletion": {
			reason: "one in deletion is left alone, for ever",
			change: func(s *gardencorev1beta1.Shoot) {
				s.DeletionTimestamp, s.Finalizers = new(metav1.NewTime(now)), []string{"gardener"}
			},
		},
		"GCM-HIBER-1 failed":        {reason: "one that has failed is left alone until the next time", change: failed(1), want: awake},
		"GCM-HIBER-1 failed before": {reason: "but not if it has changed since", change: failed(2), want: asleep},
		"GCM-HIBER-1 works": {
			reason: "one that works is put to sleep", want: asleep,
			change: func(s *gardencorev1beta1.Shoot) {
				s.Status.ObservedGeneration, s.Status.LastOperation = 1, &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded"}
			},
		},
		"GCM-HIBER-3 noted": {
			reason: "what was carried out and noted is not told again",
			change: func(s *gardencorev1beta1.Shoot) { marked(at(9, 20, 0, 30))(s); triggered(at(9, 20, 0, 30))(s) },
			want:   night{Noted: at(9, 20, 0, 30), Next: untilMorning},
		},
		"GCM-HIBER-3 noted later": {
			reason: "nor is it noted again after something else was",
			change: func(s *gardencorev1beta1.Shoot) { marked(at(9, 20, 0, 30))(s); triggered(at(9, 20, 0, 40))(s) },
			want:   night{Noted: at(9, 20, 0, 40), Next: untilMorning},
		},
		"GCM-HIBER-3 not noted": {
			reason: "what was carried out and not noted is, and the owner's choice stays",
			change: func(s *gardencorev1beta1.Shoot) { marked(at(9, 20, 0, 30))(s); triggered(at(9, 6, 0, 0))(s) },
			want:   night{Noted: at(9, 20, 0, 30), Next: untilMorning, Event: asleep.Event},
		},
		"GCM-HIBER-3 made ahead": {
			reason: "a shoot that was made by a clock that was wrong follows its schedule, too",
			change: func(s *gardencorev1beta1.Shoot) { s.CreationTimestamp = metav1.NewTime(at(20, 0, 0, 0)) }, want: asleep,
		},
		"GCM-HIBER-3 carried out": {
			reason: "what was carried out is not carried out again", change: triggered(at(9, 20, 0, 0)),
			want: night{Noted: at(9, 20, 0, 0), Next: untilMorning},
		},
		"GCM-HIBER-3 carried out before": {reason: "but the next time is", change: triggered(at(9, 6, 0, 0)), want: asleep},
		"GCM-HIBER-3 missed":             {reason: "what is older than the deadline is not caught up with", change: missed, want: awake},
		"GCM-HIBER-3 longer deadline":    {reason: "unless that is longer", change: missed, deadline: 3 * time.Hour, want: asleep},
		"GCM-HIBER-3 too old": {
			reason: "a week is the longest of all deadlines", deadline: 30 * 24 * time.Hour,
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Hibernation.Schedules = []gardencorev1beta1.HibernationSchedule{nightly("0 18 1 * *", "0 6 10 * *")}
			},
			want: awake,
		},
		"GCM-HIBER-3 clock was ahead": {
			reason: "a time that is still to come, by far, is of a clock that was wrong, and must not keep the shoot from its schedule until then",
			change: triggered(at(20, 0, 0, 0)), want: asleep,
		},
		"GCM-HIBER-3 clock was set": {
			reason: "a clock that is set back a little repeats nothing", change: triggered(at(9, 20, 2, 0)),
			want: night{Noted: at(9, 20, 2, 0), Next: untilMorning},
		},
		"GCM-HIBER-5 soon": {
			reason: "right after the next time, not before it",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Hibernation.Schedules = []gardencorev1beta1.HibernationSchedule{nightly("5 20 * * *", "0 6 * * *")}
			},
			want: night{Next: 4*time.Minute + 100*time.Millisecond},
		},
		"GCM-HIBER-1 unreadable": {
			reason: "what cannot be read is left, and is no error that is repeated",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Hibernation.Schedules = []gardencorev1beta1.HibernationSchedule{nightly("0 20 * * *", "at dawn")}
			},
		},
		"GCM-HIBER-3 younger": {
			reason: "what was due before it was created is not for it",
			change: func(s *gardencorev1beta1.Shoot) { s.CreationTimestamp = metav1.NewTime(at(9, 20, 0, 30)) }, want: awake,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", Generation: 1, CreationTimestamp: metav1.NewTime(at(1, 0, 0, 0))}}
			s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{nightly("0 20 * * *", "0 6 * * *")}}
			if tc.change != nil {
				tc.change(s)
			}
			if diff := cmp.Diff(tc.want, look(t, s, now, max(tc.deadline, 2*time.Hour))); diff != "" {
				t.Errorf("%s\na pass (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWokenByHand_GCM_HIBER_6 has the gardenlet begin, and the owner wake the shoot up again, before the pass that put it to sleep has ended. The
// next pass must leave it awake.
func TestWokenByHand_GCM_HIBER_6(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	now := at(9, 20, 1, 0)
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", CreationTimestamp: metav1.NewTime(at(1, 0, 0, 0))}}
	s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{nightly("0 20 * * *", "0 6 * * *")}}
	key := client.ObjectKeyFromObject(s)
	byHand := func(c client.Client) {
		live := &gardencorev1beta1.Shoot{}
		if err := c.Get(t.Context(), key, live); err != nil {
			t.Fatal(err)
		}
		live.Spec.Hibernation.Enabled = new(false)
		if err := c.Update(t.Context(), live); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(types).WithObjects(s).WithStatusSubresource(s).WithInterceptorFuncs(interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			byHand(c)
			return c.SubResource(name).Patch(ctx, o, p, options...)
		},
	}).Build()
	r := &hibernation.Reconciler{
		Base:   kit.Base{Client: c, Reader: c, Clock: clocktesting.NewFakeClock(now), Recorder: events.NewFakeRecorder(10)},
		Config: gardenconfigv1alpha1.ServerShootHibernationConfiguration{TriggerDeadlineDuration: &metav1.Duration{Duration: 2 * time.Hour}},
	}
	for range 2 {
		if err := c.Get(t.Context(), key, s); err != nil {
			t.Fatal(err)
		}
		if result, err := r.Reconcile(t.Context(), s); err != nil || result.RequeueAfter != 10*time.Minute {
			t.Errorf("Reconcile(...) = %v, %v, want another look in ten minutes", result, err)
		}
	}
	if err := c.Get(t.Context(), key, s); err != nil {
		t.Fatal(err)
	}
	if noted := s.Status.LastHibernationTriggerTime; *s.Spec.Hibernation.Enabled || noted == nil || !noted.Time.Equal(now) {
		t.Errorf("asleep %t, noted %v; want what the owner chose, until the next time", *s.Spec.Hibernation.Enabled, noted)
	}
}

// TestOldCache_GCM_HIBER_4 sees a shoot that sleeps, which its owner has woken up before the schedule. What was decided from that is not noted.
func TestOldCache_GCM_HIBER_4(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", CreationTimestamp: metav1.NewTime(at(1, 0, 0, 0))}}
	s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true), Schedules: []gardencorev1beta1.HibernationSchedule{nightly("0 20 * * *", "0 6 * * *")}}
	c := fake.NewClientBuilder().WithScheme(types).WithObjects(s).WithStatusSubresource(s).Build()
	key := client.ObjectKeyFromObject(s)
	seen := &gardencorev1beta1.Shoot{}
	if err := c.Get(t.Context(), key, seen); err != nil {
		t.Fatal(err)
	}
	awake := seen.DeepCopy()
	awake.Spec.Hibernation.Enabled = new(false)
	if err := c.Update(t.Context(), awake); err != nil {
		t.Fatal(err)
	}
	r := &hibernation.Reconciler{
		Base:   kit.Base{Client: c, Reader: c, Clock: clocktesting.NewFakeClock(at(9, 20, 1, 0)), Recorder: events.NewFakeRecorder(10)},
		Config: gardenconfigv1alpha1.ServerShootHibernationConfiguration{TriggerDeadlineDuration: &metav1.Duration{Duration: 2 * time.Hour}},
	}
	for range 2 {
		if _, err := r.Reconcile(t.Context(), seen); err != nil {
			t.Fatal(err)
		}
		seen = &gardencorev1beta1.Shoot{}
		if err := c.Get(t.Context(), key, seen); err != nil {
			t.Fatal(err)
		}
	}
	if !*seen.Spec.Hibernation.Enabled {
		t.Error("the shoot is awake, but its schedule has come")
	}
}

// look makes one pass, and returns what it leaves behind.
func look(t *testing.T, s *gardencorev1beta1.Shoot, now time.Time, deadline time.Duration) night {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(types).WithObjects(s).WithStatusSubresource(s).Build()
	recorder := events.NewFakeRecorder(10)
	r := &hibernation.Reconciler{
		Base:   kit.Base{Client: c, Reader: c, Clock: clocktesting.NewFakeClock(now), Recorder: recorder},
		Config: gardenconfigv1alpha1.ServerShootHibernationConfiguration{TriggerDeadlineDuration: &metav1.Duration{Duration: deadline}},
	}
	key := client.ObjectKeyFromObject(s)
	if err := c.Get(t.Context(), key, s); err != nil {
		t.Fatal(err)
	}
	result, err := r.Reconcile(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), key, s); err != nil {
		t.Fatal(err)
	}
	got := night{Next: result.RequeueAfter, Asleep: s.Spec.Hibernation.Enabled != nil && *s.Spec.Hibernation.Enabled}
	if noted := s.Status.LastHibernationTriggerTime; noted != nil {
		got.Noted = noted.UTC()
	}
	select {
	case got.Event = <-recorder.Events:
	default:
	}
	return got
}
