// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/hibernation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestHibernationSchedules drives the controller by hand, with a clock of its own.
func TestHibernationSchedules(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	// Schedules are about the days to come, because the shoot is created today.
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(48 * time.Hour)
	clock := clocktesting.NewFakeClock(day.Add(19 * time.Hour))
	recorded := events.NewFakeRecorder(10)
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.SetDefaults()
	r := &hibernation.Reconciler{Base: kit.Base{Client: o.Client, Reader: o.Client, Clock: clock, Recorder: recorded}, Config: config.Controllers.ShootHibernation}

	shoot := o.shoot(namespace, "a", "local", func(s *gardencorev1beta1.Shoot) {
		s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{{Start: new("0 20 * * *"), End: new("0 6 * * *")}}}
	})
	// outcome is when another pass follows, whether the shoot is to sleep, and the type and the reason of the event.
	type outcome struct {
		Next   time.Duration
		Asleep bool
		Event  string
	}
	// pass makes one pass and checks what the shoot is then, and when the next one follows.
	pass := func(what string, asleep bool, next time.Duration, event string) {
		t.Helper()
		var result reconcile.Result
		var err error
		for lost := true; lost; lost = err == nil && result.RequeueAfter == 100*time.Millisecond { // Another controller wrote the shoot.
			if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
				t.Fatal(err)
			}
			result, err = r.Reconcile(t.Context(), shoot)
		}
		if err != nil {
			t.Errorf("%s: Reconcile(...): %v", what, err)
		}
		if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			t.Fatal(err)
		}
		got := outcome{Next: result.RequeueAfter, Asleep: shoot.Spec.Hibernation.Enabled != nil && *shoot.Spec.Hibernation.Enabled}
		if len(recorded.Events) > 0 {
			words := strings.Fields(<-recorded.Events)
			got.Event = strings.Join(words[:2], " ")
		}
		// Until a time of the clock comes it is looked at again, as the clock may be set; the times themselves are tested with the schedule.
		if diff := cmp.Diff(outcome{Next: min(next, 10*time.Minute), Asleep: asleep, Event: event}, got); diff != "" {
			t.Errorf("%s: outcome of a pass (-want +got):\n%s", what, diff)
		}
	}
	late := 100 * time.Millisecond

	pass("GCM-HIBER-5: it is not time yet", false, time.Hour+late, "")
	clock.Step(time.Hour + late)
	pass("GCM-HIBER-4: it is time to sleep", true, 10*time.Hour, "Normal Hibernated")
	if at := shoot.Status.LastHibernationTriggerTime; at == nil || !at.Time.Equal(day.Add(20*time.Hour)) {
		t.Errorf("GCM-HIBER-4: the time is noted, got %v", at)
	}
	o.change(shoot, func() { shoot.Spec.Hibernation.Enabled = new(false) })
	clock.Step(time.Hour)
	pass("GCM-HIBER-6: a person has woken it up", false, 9*time.Hour, "")
	clock.Step(9 * time.Hour)
	pass("GCM-HIBER-4: it is awake already, which is told all the same", false, 14*time.Hour, "Normal WokenUp")
	clock.Step(14*time.Hour + 2*time.Hour + time.Minute)
	pass("GCM-HIBER-3: two hours later it is too late", false, 7*time.Hour+59*time.Minute, "")
	clock.Step(22 * time.Hour)
	o.changeStatus(shoot, func() {
		shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Failed", LastUpdateTime: metav1.Now()}
		shoot.Status.ObservedGeneration = shoot.Generation
	})
	pass("GCM-HIBER-1: a failed shoot is left alone, for now", false, 9*time.Hour+59*time.Minute, "")
	o.changeStatus(shoot, func() { shoot.Status.LastOperation.State = "Succeeded" })
	pass("GCM-HIBER-1: once it works again it sleeps", true, 9*time.Hour+59*time.Minute, "Normal Hibernated")
	clock.Step(10 * time.Hour)
	pass("GCM-HIBER-4: it is time to wake up", false, 13*time.Hour+59*time.Minute, "Normal WokenUp")

	clock.Step(14 * time.Hour)
	o.changeStatus(shoot, func() {
		shoot.Status.Constraints = []gardencorev1beta1.Condition{{Type: "HibernationPossible", Status: "False", Message: "a webhook is in the way"}}
	})
	result, err := r.Reconcile(t.Context(), shoot)
	for err == nil && result.RequeueAfter == 100*time.Millisecond { // Another controller wrote the shoot.
		if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			t.Fatal(err)
		}
		result, err = r.Reconcile(t.Context(), shoot)
	}
	if !apierrors.IsForbidden(err) {
		t.Fatalf("GCM-HIBER-4: a constraint refuses, got %v", err)
	}
	select {
	case got := <-recorded.Events:
		if !strings.HasPrefix(got, "Warning HibernationFailed") || !strings.Contains(got, "a webhook is in the way") {
			t.Errorf("GCM-HIBER-4: the owner of the shoot is told, got event %q", got)
		}
	default:
		t.Errorf("GCM-HIBER-4: the owner of the shoot is told, got no event of %v", err)
	}
	o.changeStatus(shoot, func() { shoot.Status.Constraints = nil })
	pass("GCM-HIBER-4: it sleeps as soon as it may", true, 9*time.Hour+59*time.Minute, "Normal Hibernated")
}
