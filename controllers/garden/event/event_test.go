// SPDX-License-Identifier: Apache-2.0

package event_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
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
	out := kit.NewLeaveOut([]string{"event"})
	if err := errors.Join((&event.Reconciler{}).AddToManager(kit.Clusters{LeaveOut: out}), out.Check()); err != nil {
		t.Errorf("GCM-PROC-4: it is left out by its name and without a section, got %v", err)
	}
}

// TestHappensAgain_GCM_EVENT_3 has an Event that happens again while it is deleted.
func TestHappensAgain_GCM_EVENT_3(t *testing.T) {
	t.Parallel()
	var asked []metav1.Preconditions
	e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a", UID: "u", ResourceVersion: "7"}}
	c := fake.NewClientBuilder().WithObjects(e.DeepCopy()).WithInterceptorFuncs(interceptor.Funcs{
		Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, options ...client.DeleteOption) error {
			asked = append(asked, *(&client.DeleteOptions{Preconditions: &metav1.Preconditions{}}).ApplyOptions(options).Preconditions)
			return nil
		},
	}).Build()
	config := &gardenconfigv1alpha1.ServerConfiguration{}
	config.Controllers.Event = &gardenconfigv1alpha1.ServerEventControllerConfiguration{}
	config.SetDefaults()
	r := &event.Reconciler{Base: kit.Base{Client: c, Clock: clocktesting.NewFakeClock(time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC))}, Config: config.Controllers.Event}
	if _, err := r.Reconcile(t.Context(), e.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]metav1.Preconditions{{UID: new(types.UID("u")), ResourceVersion: new("7")}}, asked); diff != "" {
		t.Errorf("it is deleted only as it was seen; deletions (-want +got):\n%s", diff)
	}
}

// TestReconcile_GCM_EVENT_2_3 looks at an Event some time after it happened.
func TestReconcile_GCM_EVENT_2_3(t *testing.T) {
	t.Parallel()
	happened := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		kind   string
		after  time.Duration
		gone   bool
		again  time.Duration
	}{
		"young":    {reason: "it is looked at again when its time is over", kind: "Seed", after: time.Hour - time.Second, again: time.Second},
		"old":      {reason: "then it goes", kind: "Seed", after: time.Hour, gone: true},
		"of shoot": {reason: "that of a shoot stays, however old", kind: "Shoot", after: 1000 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &corev1.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a"}, LastTimestamp: metav1.NewTime(happened),
				InvolvedObject: corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: tc.kind},
			}
			c := fake.NewClientBuilder().WithObjects(e).Build()
			config := &gardenconfigv1alpha1.ServerConfiguration{}
			config.Controllers.Event = &gardenconfigv1alpha1.ServerEventControllerConfiguration{}
			config.SetDefaults()
			r := &event.Reconciler{Base: kit.Base{Client: c, Clock: clocktesting.NewFakeClock(happened.Add(tc.after))}, Config: config.Controllers.Event}
			result, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(reconcile.Result{RequeueAfter: tc.again}, result); diff != "" {
				t.Errorf("%s\nresult (-want +got):\n%s", tc.reason, diff)
			}
			if gone := apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(e), e)); gone != tc.gone {
				t.Errorf("%s\ngone = %t, want %t", tc.reason, gone, tc.gone)
			}
		})
	}
}

// TestDeletionFails_GCM_EVENT_3 has a deletion that fails. It is tried again, unless somebody was faster.
func TestDeletionFails_GCM_EVENT_3(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	for refusal, want := range map[error]error{errBoom: errBoom, apierrors.NewNotFound(corev1.Resource("events"), "a"): nil} {
		e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "a"}}
		c := fake.NewClientBuilder().WithObjects(e.DeepCopy()).WithInterceptorFuncs(interceptor.Funcs{
			Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return refusal },
		}).Build()
		config := &gardenconfigv1alpha1.ServerConfiguration{}
		config.Controllers.Event = &gardenconfigv1alpha1.ServerEventControllerConfiguration{}
		config.SetDefaults()
		r := &event.Reconciler{Base: kit.Base{Client: c, Clock: clocktesting.NewFakeClock(time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC))}, Config: config.Controllers.Event}
		if _, err := r.Reconcile(t.Context(), e.DeepCopy()); !errors.Is(err, want) {
			t.Errorf("Reconcile(...) = %v after %v, want %v", err, refusal, want)
		}
	}
}
