// SPDX-License-Identifier: Apache-2.0

package event_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/garden/event"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

func TestAboutShoot(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		about  corev1.ObjectReference
		want   bool
	}{
		"shoot":         {"events of shoots are never touched", corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot"}, true},
		"other version": {"whatever version the writer used", corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1alpha1", Kind: "Shoot"}, true},
		"other kind":    {"other kinds of the garden are not shoots", corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Seed"}, false},
		"other group":   {"a shoot of somebody else is not one of the garden", corev1.ObjectReference{APIVersion: "bamboo.example.com/v1", Kind: "Shoot"}, false},
		"nothing":       {"an event may be about nothing", corev1.ObjectReference{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := event.AboutShoot(&corev1.Event{InvolvedObject: tc.about}); got != tc.want {
				t.Errorf("GCM-EVENT-2: %s\nAboutShoot(%+v) = %t, want %t", tc.reason, tc.about, got, tc.want)
			}
		})
	}
}

func TestLastSeen(t *testing.T) {
	t.Parallel()
	hour := func(h int) time.Time { return time.Date(2026, 4, 1, h, 0, 0, 0, time.UTC) }
	full := func(change func(*corev1.Event)) *corev1.Event {
		e := &corev1.Event{
			ObjectMeta:    metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(hour(1))},
			LastTimestamp: metav1.NewTime(hour(2)),
			EventTime:     metav1.NewMicroTime(hour(3)),
			Series:        &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(hour(4))},
		}
		change(e)
		return e
	}
	for name, tc := range map[string]struct {
		reason string
		event  *corev1.Event
		want   time.Time
	}{
		"series":  {"the time of the series counts first", full(func(*corev1.Event) {}), hour(4)},
		"once":    {"without a series it is the time of the event", full(func(e *corev1.Event) { e.Series = nil }), hour(3)},
		"blank":   {"a series may have no time", full(func(e *corev1.Event) { e.Series = &corev1.EventSeries{} }), hour(3)},
		"legacy":  {"old writers set the last timestamp only", full(func(e *corev1.Event) { e.Series, e.EventTime = nil, metav1.MicroTime{} }), hour(2)},
		"no time": {"what has no time at all is not deleted at once", &corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(hour(1))}}, hour(1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, event.LastSeen(tc.event)); diff != "" {
				t.Errorf("GCM-EVENT-3: %s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOff adds the controller without its section to a garden that is not there: it touches nothing.
func TestOff(t *testing.T) {
	t.Parallel()
	if err := (&event.Reconciler{}).AddToManager(kit.Clusters{}); err != nil {
		t.Errorf("GCM-EVENT-1: without its section nothing is watched, got %v", err)
	}
}
