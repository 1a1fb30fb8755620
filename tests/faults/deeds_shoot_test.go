// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// deedsOfShoots are done to shoots that work: the server takes an operation that begins away, and it can be told by the generation only that
// there was one. Each later deed starts the server once more, and would find a shoot that is maintained or put to sleep another time.
func deedsOfShoots() []deed {
	maintenance := func(name, shoot string, begin func(*world) error, hold func(write) bool) deed {
		return deed{name: "GCM-MAINT-12 " + name, begin: begin, hold: of(shoot, hold), rest: maintainedTo(shoot)}
	}
	// The time of the schedule came ten minutes ago. The next one is tomorrow.
	bedtime := time.Now().UTC().Add(-10 * time.Minute).Truncate(time.Minute)
	sleep := func(name, shoot string, hold func(write) bool, owner func(*world) error, late bool) deed {
		return deed{
			name: name, begin: scheduleSleep(shoot, bedtime), hold: of(shoot, hold), rest: slept(shoot, bedtime),
			owner: owner, late: late,
		}
	}

	return []deed{
		maintenance("a time window opens, and a maintenance is not announced yet", "tried", openFirstWindow, announces),
		maintenance("a time window opens, and a maintenance is announced, but not made", "announced", openWindow("announced"), makes),
		maintenance("a time window opens, and a maintenance is made, but not reported", "made", openWindow("made"), reports),
		maintenance("a maintenance that is asked for is announced, but not made", "asked", askMaintenance("asked"), makes),
		maintenance("a maintenance that is asked for is made, but not reported", "asked-made", askMaintenance("asked-made"), reports),
		sleep("GCM-HIBER-4 a shoot is not put to sleep yet", "tired", sleeps, nil, false),
		sleep("GCM-HIBER-4 a shoot is put to sleep, which is not noted", "asleep", notes, nil, false),
		sleep("GCM-HIBER-6 a shoot is put to sleep, and woken up before that is noted", "woken", notes, wake("woken"), false),
		sleep("GCM-HIBER-6 a shoot is put to sleep, and woken up as the server is there again", "woken-late", notes, wake("woken-late"), true),
	}
}

// of are the writes to one shoot.
func of(name string, which func(write) bool) func(write) bool {
	return func(w write) bool { return w.after.Name == name && which(w) }
}

// announces, makes and reports tell the writes of a maintenance, sleeps and notes those of a schedule.
func announces(w write) bool {
	return w.status && state(w.after) == gardencorev1beta1.LastOperationStateProcessing && state(w.before) != state(w.after)
}

func makes(w write) bool {
	const at = gardencorev1beta1.AnnotationShootMaintained

	return !w.status && !w.try && w.before.Annotations[at] != w.after.Annotations[at]
}

func reports(w write) bool {
	return w.status && state(w.before) == gardencorev1beta1.LastOperationStateProcessing && state(w.before) != state(w.after)
}

func sleeps(w write) bool {
	return !w.status && query.HibernationWanted(w.after) && !query.HibernationWanted(w.before)
}

func notes(w write) bool {
	return w.status && !w.after.Status.LastHibernationTriggerTime.Equal(w.before.Status.LastHibernationTriggerTime)
}

// state is that of the last maintenance.
func state(shoot *gardencorev1beta1.Shoot) gardencorev1beta1.LastOperationState {
	if shoot.Status.LastMaintenance == nil {
		return ""
	}

	return shoot.Status.LastMaintenance.State
}

// working makes a shoot as it is after its gardenlet has created it. Its status may be changed.
func (w *world) working(name string, changes ...func(*gardencorev1beta1.ShootStatus)) (*gardencorev1beta1.Shoot, error) {
	shoot := inOne(name)
	shoot.Spec.Kubernetes.Version = "1.36.2"
	if err := w.client().Create(w.t.Context(), shoot); err != nil {
		return nil, err
	}
	before := shoot.DeepCopy()
	shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Succeeded", Progress: 100, LastUpdateTime: metav1.Now()}
	shoot.Status.ObservedGeneration = shoot.Generation
	for _, change := range changes {
		change(&shoot.Status)
	}

	return shoot, w.client().Status().Patch(w.t.Context(), shoot, client.MergeFrom(before))
}

// openFirstWindow makes the shoots for which windows open, as it takes the longer to find a window the younger a shoot is.
func openFirstWindow(w *world) error {
	for _, name := range []string{"tried", "announced", "made"} {
		if _, err := w.working(name); err != nil {
			return err
		}
	}

	return openWindow("tried")(w)
}

// openWindow gives a shoot a time window that has just opened and in which it is its turn at once.
func openWindow(name string) func(*world) error {
	return func(w *world) error {
		shoot := inOne(name)
		if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			return err
		}
		before := shoot.DeepCopy()
		err := wait.PollUntilContextTimeout(w.t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
			return turn(shoot, time.Now()), nil
		})
		if err != nil {
			return fmt.Errorf("no time window gives shoot %q its turn: %w", name, err)
		}

		return w.client().Patch(w.t.Context(), shoot, client.MergeFrom(before))
	}
}

// turn looks for a time window of which the shoot has its turn in the first minute. It has opened after the shoot was created, which has
// nothing to catch up with otherwise.
func turn(shoot *gardencorev1beta1.Shoot, now time.Time) bool {
	created := shoot.CreationTimestamp.Time
	for begin := created.Add(time.Second); !begin.After(now); begin = begin.Add(time.Second) {
		for length := 30 * time.Minute; length <= 6*time.Hour; length += time.Minute {
			shoot.Spec.Maintenance.TimeWindow = timeWindow(begin, length)
			if window, ok := query.MaintenanceWindow(&shoot.Spec); ok && !window.Due(now, created, string(shoot.UID)).After(now) {
				return true
			}
		}
	}

	return false
}

func timeWindow(begin time.Time, length time.Duration) *gardencorev1beta1.MaintenanceTimeWindow {
	return &gardencorev1beta1.MaintenanceTimeWindow{
		Begin: begin.UTC().Format(query.WindowLayout), End: begin.Add(length).UTC().Format(query.WindowLayout),
	}
}

// askMaintenance makes a shoot in its time window, where it has nothing to catch up with, and asks for its maintenance.
func askMaintenance(name string) func(*world) error {
	return func(w *world) error {
		shoot, err := w.working(name)
		if err != nil {
			return err
		}
		before := shoot.DeepCopy()
		shoot.Spec.Maintenance.TimeWindow = timeWindow(shoot.CreationTimestamp.Add(-time.Hour), 5*time.Hour)
		metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationMaintain)

		return w.client().Patch(w.t.Context(), shoot, client.MergeFrom(before))
	}
}

// maintainedTo says that a shoot was maintained once: the window or the request is a generation after the first one, and the operation another.
func maintainedTo(name string) func(*world) error {
	return func(w *world) error {
		shoot := inOne(name)
		if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			return err
		}
		if state(shoot) != gardencorev1beta1.LastOperationStateSucceeded {
			return fmt.Errorf("the last maintenance is %+v", shoot.Status.LastMaintenance)
		}
		if asked := shoot.Annotations[gardencorev1beta1.AnnotationOperation]; asked != "" || shoot.Generation != 3 || shoot.Spec.Kubernetes.Version != "1.36.3" {
			return fmt.Errorf("the shoot has generation %d, version %s and operation %q", shoot.Generation, shoot.Spec.Kubernetes.Version, asked)
		}

		return nil
	}
}

// scheduleSleep makes a shoot that is awake, and gives it a schedule whose time has come.
func scheduleSleep(name string, at time.Time) func(*world) error {
	return func(w *world) error {
		shoot, err := w.working(name, func(s *gardencorev1beta1.ShootStatus) {
			s.LastHibernationTriggerTime = new(metav1.NewTime(at.Add(-30 * time.Minute)))
		})
		if err != nil {
			return err
		}

		return patch(shoot, fmt.Sprintf(`{"spec":{"hibernation":{"schedules":[{"start":"%d %d * * *"}]}}}`, at.Minute(), at.Hour()))(w)
	}
}

// slept says that a schedule was carried out, and noted.
func slept(name string, at time.Time) func(*world) error {
	return func(w *world) error {
		shoot := inOne(name)
		if err := w.client().Get(w.t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			return err
		}
		if noted := shoot.Status.LastHibernationTriggerTime; noted == nil || noted.Time.Before(at) {
			return fmt.Errorf("noted is %v", noted)
		}

		return nil
	}
}

// wake is what the owner of a shoot does who needs it.
func wake(name string) func(*world) error {
	return patch(inOne(name), `{"spec":{"hibernation":{"enabled":false}}}`)
}
