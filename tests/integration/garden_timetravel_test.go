// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// traveller steps the clock of a garden over days.
type traveller struct {
	*operator

	clock *harness.Clock
	began time.Time
}

// to steps to the beginning of a day, counted from the start of the garden.
func (w *traveller) to(number int) {
	w.t.Helper()
	if by := w.began.Add(time.Duration(number) * day).Sub(w.clock.Now()); by > 0 {
		w.clock.Step(by)
	}
}

// passing steps ten minutes after ten minutes until check returns no error.
func (w *traveller) passing(what string, check func(context.Context) error) {
	w.t.Helper()
	harness.Eventually(w.t, what, func(ctx context.Context) error {
		err := check(ctx)
		if err != nil {
			w.clock.Step(10 * time.Minute)
			return fmt.Errorf("day %.2f: %w", w.clock.Since(w.began).Hours()/24, err)
		}
		return nil
	})
}

// leaves waits until an object is gone.
func (w *traveller) leaves(object client.Object, what string) {
	w.t.Helper()
	w.passing(what, func(ctx context.Context) error {
		err := w.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return cmp.Or(err, errors.New("it is still there"))
	})
}

// becomes waits until the status of a project is as it should be.
func (w *traveller) becomes(project *gardencorev1beta1.Project, what string, check func(gardencorev1beta1.ProjectStatus) bool) {
	w.t.Helper()
	w.passing(what, func(ctx context.Context) error {
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(project), project); err != nil {
			return err
		}
		return has(check(project.Status), "status %v", project.Status)
	})
}

// runs waits until a shoot has a version of Kubernetes.
func (w *traveller) runs(shoot *gardencorev1beta1.Shoot, version, what string) {
	w.t.Helper()
	w.passing(what, func(ctx context.Context) error {
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(shoot), shoot); err != nil {
			return err
		}
		return has(shoot.Spec.Kubernetes.Version == version, "version %s, last maintenance %v", shoot.Spec.Kubernetes.Version, shoot.Status.LastMaintenance)
	})
}

// TestTimeTravel walks a garden through 120 days: versions are updated in maintenance windows, a cluster with a lifetime is
// deleted, old events are removed, a cluster sleeps at night, a gardenlet falls silent and comes back, and a project without clusters
// becomes stale and is deleted.
func TestTimeTravel(t *testing.T) {
	t.Parallel()
	clock := harness.NewClock(t)
	w := &traveller{clock: clock, began: clock.Now(), operator: operate(t, harness.WithClock(clock), harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.EventTTL = &metav1.Duration{Duration: 365 * day}
		c.Controllers.Event = &gardenconfigv1alpha1.ServerEventControllerConfiguration{TTLNonShootEvents: &metav1.Duration{Duration: 10 * day}}
	}))}
	w.provider("cloud")
	offer := profile("cloud")
	w.change(offer, func() {
		offer.Spec.Kubernetes.Versions = append(offer.Spec.Kubernetes.Versions, gardencorev1beta1.ExpirableVersion{Version: "1.36.1", ExpirationDate: new(metav1.NewTime(w.began.Add(50 * day)))})
	})
	busy, idle := w.project("busy"), w.project("idle")
	namespace := *busy.Spec.Namespace
	w.trial(namespace, 20)
	seed := w.seed("north", "cloud", "north")
	w.beats("north", 60)

	window := func(update bool) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.Version = "1.36.1"
			s.Spec.Maintenance = &gardencorev1beta1.Maintenance{
				AutoUpdate: &gardencorev1beta1.MaintenanceAutoUpdate{KubernetesVersion: update},
				TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0000", End: "230000+0000"},
			}
			s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{{Start: new("0 20 * * *"), End: new("0 6 * * *")}}}
		}
	}
	tended, pinned := w.shoot(namespace, "tended", "cloud", window(true)), w.shoot(namespace, "pinned", "cloud", window(false))
	brief := w.shoot(namespace, "brief", "cloud", withWorker("trial"))
	seen := metav1.NewTime(clock.Now())
	event := &corev1.Event{
		ObjectMeta: named("garden", "old"), InvolvedObject: corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Quota", Namespace: "garden", Name: "a"},
		Reason: "Tested", Message: "old", Type: corev1.EventTypeNormal, FirstTimestamp: seen, LastTimestamp: seen,
	}
	w.create(event)

	w.runs(tended, "1.36.3", "GCM-MAINT-4: within two days a shoot is updated in its window")
	if at := clock.Since(w.began); at > 3*day {
		t.Errorf("GCM-MAINT-1: the first maintenance was after %s, want one in each night", at)
	}

	w.to(9)
	w.read(event)
	w.to(11)
	w.leaves(event, "GCM-EVENT-3: an event of ten days ago is gone")

	w.to(19)
	w.read(brief)
	w.to(21)
	w.leaves(brief, "GCM-SHOOTQUOTA-3: after its lifetime a shoot is gone")

	w.night(tended, "in the middle")

	w.to(31)
	w.becomes(idle, "GCM-STALE-5: a project without shoots is stale", func(s gardencorev1beta1.ProjectStatus) bool {
		return s.StaleSinceTimestamp != nil && s.StaleAutoDeleteTimestamp == nil
	})
	w.to(46)
	w.becomes(idle, "GCM-STALE-5: after the grace period it has a time of deletion", func(s gardencorev1beta1.ProjectStatus) bool {
		return s.StaleAutoDeleteTimestamp != nil
	})
	if diff := gocmp.Diff(idle.Status.StaleSinceTimestamp.Add(90*day), idle.Status.StaleAutoDeleteTimestamp.Time); diff != "" {
		t.Errorf("GCM-STALE-5: the time of deletion (-want +got):\n%s", diff)
	}

	w.read(pinned)
	if got := pinned.Spec.Kubernetes.Version; got != "1.36.1" {
		t.Errorf("GCM-MAINT-4: a shoot that wants no updates runs %s before its version expires", got)
	}
	w.to(50)
	w.runs(pinned, "1.36.3", "GCM-MAINT-7: an expired version is replaced all the same")

	w.to(61)
	w.silent(seed)

	w.to(119)
	w.read(idle)
	w.to(122)
	w.leaves(idle, "GCM-STALE-6: when its time has come a stale project is deleted")
	w.read(busy)
	if busy.Status.StaleSinceTimestamp != nil {
		t.Errorf("GCM-STALE-4: a project with shoots is stale since %s", busy.Status.StaleSinceTimestamp)
	}
	w.night(tended, "on the last day")
}

// night sees a shoot fall asleep in the evening and wake up in the morning, each within the two hours in which a schedule is still carried out.
func (w *traveller) night(shoot *gardencorev1beta1.Shoot, when string) {
	w.t.Helper()
	w.passing(when+" the shoot is awake", func(ctx context.Context) error {
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(shoot), shoot); err != nil {
			return err
		}
		return has(!query.HibernationWanted(shoot), "it sleeps")
	})
	since := w.clock.Now()
	for _, turn := range []struct {
		what   string
		asleep bool
		hour   int
	}{{"put the shoot to sleep", true, 20}, {"woken the shoot up", false, 6}} {
		w.passing("GCM-HIBER-4: "+when+" the schedule has "+turn.what, func(ctx context.Context) error {
			if err := w.Client.Get(ctx, client.ObjectKeyFromObject(shoot), shoot); err != nil {
				return err
			}
			at := shoot.Status.LastHibernationTriggerTime
			return has(query.HibernationWanted(shoot) == turn.asleep && at != nil && at.After(since), "asleep %t, by the schedule of %v", query.HibernationWanted(shoot), at)
		})
		since = shoot.Status.LastHibernationTriggerTime.UTC()
		due := since.Truncate(day).Add(time.Duration(turn.hour) * time.Hour)
		if late := since.Sub(due); late < 0 || late > 2*time.Hour {
			w.t.Errorf("GCM-HIBER-2, GCM-HIBER-3: %s the schedule has %s at %s, want it at %s", when, turn.what, since, due)
		}
	}
}

// beats lets the heartbeat of a seed hold until a day.
func (w *traveller) beats(seed string, until int) {
	w.t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: named("gardener-system-seed-lease", seed)}
	w.change(lease, func() { lease.Spec.RenewTime = new(metav1.NewMicroTime(w.began.Add(time.Duration(until) * day))) })
}

// silent sees that the gardenlet is lost, and lets it come back.
func (w *traveller) silent(seed *gardencorev1beta1.Seed) {
	w.t.Helper()
	is := func(status gardencorev1beta1.ConditionStatus) func(*gardencorev1beta1.Seed) error {
		return func(s *gardencorev1beta1.Seed) error {
			ready, err := condition(s.Status.Conditions, "GardenletReady")
			if err != nil {
				return err
			}
			return has(ready.Status == status, "condition %v", ready)
		}
	}
	harness.Await(w.t, w.Client, seed, "GCM-SEEDLIFE-3: a seed without heartbeats is Unknown", is("Unknown"))
	w.beats(seed.Name, 200)
	w.changeStatus(seed, func() {
		for i := range seed.Status.Conditions {
			if c := &seed.Status.Conditions[i]; c.Type == "GardenletReady" {
				c.Status, c.LastTransitionTime = "True", metav1.NewTime(w.clock.Now())
			}
		}
	})
	w.clock.Step(day)
	w.settled("GCM-SEEDLIFE-2: a seed that beats is left alone")
	w.read(seed)
	if err := is("True")(seed); err != nil {
		w.t.Errorf("GCM-SEEDLIFE-2: a seed that beats is left alone: %v", err)
	}
}
