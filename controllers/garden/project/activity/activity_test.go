// SPDX-License-Identifier: Apache-2.0

package activity_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/project/activity"
)

func at(minute int) time.Time { return time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC) }

func object(created, generation int64) client.Object {
	return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(int(created))), Generation: generation}}
}

// update is the event of a change between two generations. Each change has a version of its own.
func update(from, to int64) event.UpdateEvent {
	e := event.UpdateEvent{ObjectOld: object(0, from), ObjectNew: object(0, to)}
	e.ObjectOld.SetResourceVersion("7")
	e.ObjectNew.SetResourceVersion("8")
	return e
}

// again is the event of an object that the cache reports once more, unchanged.
func again(generation int64) event.UpdateEvent {
	e := update(generation, generation)
	e.ObjectNew.SetResourceVersion(e.ObjectOld.GetResourceVersion())
	return e
}

func TestWork(t *testing.T) {
	t.Parallel()
	p := activity.Work(clocktesting.NewFakePassiveClock(at(60)))
	for reason, got := range map[string]bool{
		"GCM-ACTIVITY-2: a new object is activity":           p.Create(event.CreateEvent{Object: object(1, 1)}),
		"GCM-ACTIVITY-2: a change of its generation is, too": p.Update(update(1, 2)),
		"GCM-ACTIVITY-2: an old object seen again is none":   !p.Create(event.CreateEvent{Object: object(0, 1)}),
		"GCM-ACTIVITY-2: a change of its status is none":     !p.Update(update(1, 1)),
		"GCM-ACTIVITY-2: an object that stays is none":       !p.Update(again(1)),
		"GCM-ACTIVITY-2: the end of an object is none":       !p.Delete(event.DeleteEvent{Object: object(0, 1)}),
		"GCM-ACTIVITY-2: an event without a reason is none":  !p.Generic(event.GenericEvent{Object: object(1, 1)}),
	} {
		if !got {
			t.Error(reason)
		}
	}
}

func TestEverything(t *testing.T) {
	t.Parallel()
	matters := func(o client.Object) bool { return o.GetGeneration() == 1 }
	p := activity.Everything(clocktesting.NewFakePassiveClock(at(60)), matters)
	for reason, got := range map[string]bool{
		"GCM-ACTIVITY-2: a new object is activity":         p.Create(event.CreateEvent{Object: object(1, 1)}),
		"GCM-ACTIVITY-2: any change is":                    p.Update(update(1, 1)),
		"GCM-ACTIVITY-2: no change is none":                !p.Update(again(1)),
		"GCM-ACTIVITY-2: that it matters no more is":       p.Update(update(1, 2)),
		"GCM-ACTIVITY-2: that it begins to matter is":      p.Update(update(2, 1)),
		"GCM-ACTIVITY-2: its end is":                       p.Delete(event.DeleteEvent{Object: object(0, 1)}),
		"GCM-ACTIVITY-2: an old object seen again is none": !p.Create(event.CreateEvent{Object: object(0, 1)}),
		"GCM-ACTIVITY-2: one that does not matter is none": !p.Create(event.CreateEvent{Object: object(1, 2)}),
		"GCM-ACTIVITY-2: nor its change":                   !p.Update(update(2, 2)),
		"GCM-ACTIVITY-2: nor its end":                      !p.Delete(event.DeleteEvent{Object: object(0, 2)}),
	} {
		if !got {
			t.Error(reason)
		}
	}
}

func TestNote(t *testing.T) {
	t.Parallel()
	status := &gardencorev1beta1.ProjectStatus{}
	want := &gardencorev1beta1.ProjectStatus{LastActivityTimestamp: new(metav1.NewTime(at(5)))}
	activity.Note(status, at(5).Add(time.Millisecond))
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("GCM-ACTIVITY-1: the time is written in seconds (-want +got):\n%s", diff)
	}
	activity.Note(status, at(4))
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("GCM-ACTIVITY-1: an older activity does not move it (-want +got):\n%s", diff)
	}
	activity.Note(status, at(6))
	want.LastActivityTimestamp = new(metav1.NewTime(at(6)))
	if diff := cmp.Diff(want, status); diff != "" {
		t.Errorf("GCM-ACTIVITY-1: a later activity does (-want +got):\n%s", diff)
	}
}
