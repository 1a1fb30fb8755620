// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// diary is a journal that remembers the transitions.
type diary struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary) Transition(_ operation.Subject, transition operation.Transition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, fmt.Sprintf("%s %s", transition.To.Type, transition.To.State))
}

func (*diary) Task(operation.Subject, flow.Observation) {}

// TestForceEndsTheRun_GLET_FORCE_1 lets operations wait for an extension that is silent, and for a store that never comes, until the
// shoot is to be deleted by force.
func TestForceEndsTheRun_GLET_FORCE_1(t *testing.T) {
	t.Parallel()
	infrastructure := &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shoot--dev--a", Name: "a", Finalizers: []string{"example.org/held"},
	}}
	for name, tc := range map[string]struct {
		reason string
		// left is what is there when the operation begins; leaving says whether it is a deletion.
		left    []client.Object
		leaving bool
		want    []string
	}{
		"Deletion": {
			reason: "the deletion waits for the infrastructure", left: []client.Object{infrastructure}, leaving: true,
			want: []string{"Delete Processing", "Delete Aborted", "Delete Processing", "Delete Succeeded"},
		},
		"Creation": {
			reason: "the creation waits for its seed, and goes on when the shoot is deleted without force",
			want:   []string{"Create Processing", "Create Aborted", "Delete Processing", "Delete Succeeded"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l, log := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) {
					s.Finalizers = []string{"gardener"}
					s.Status.UID, s.Status.TechnicalID, s.Status.SeedName = "uid-1", "shoot--dev--a", new("eu-1")
					s.Status.LastErrors = []gardencorev1beta1.LastError{{Description: "in use", Codes: []gardencorev1beta1.ErrorCode{"ERR_INFRA_DEPENDENCIES"}, TaskID: new("any")}}
				})), &diary{}
				l.Journal = log
				for _, obj := range append([]client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}}}, tc.left...) {
					obj, _ = obj.DeepCopyObject().(client.Object)
					l.give(t, l.SeedClient, obj)
				}
				r := forcedRun{landscape: l, queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())}
				defer r.queue.ShutDown()
				if tc.leaving {
					r.delete(t)
				}
				r.interrupt(t, tc.reason, !tc.leaving)
				if _, err := l.pass(t.Context()); err != nil {
					t.Fatalf("the forced deletion returned %v", err)
				}
				err := l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a"}, &gardencorev1beta1.Shoot{})
				if !apierrors.IsNotFound(err) {
					t.Errorf("the shoot is still there: %v", err)
				}
				if diff := cmp.Diff(tc.want, log.entries); diff != "" {
					t.Errorf("the journal (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestDeletionIsTriedAgainSoon_GLET_SHOOT_14: that runs have failed often before does not make the first failure of a deletion last long.
func TestDeletionIsTriedAgainSoon_GLET_SHOOT_14(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(func(s *gardencorev1beta1.Shoot) { s.Finalizers = []string{"gardener"} }))
	r := forcedRun{landscape: l, queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())}
	defer r.queue.ShutDown()
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(l.shoot(t))}
	for range 5 {
		r.queue.AddRateLimited(request)
	}
	r.change(t, func(s *gardencorev1beta1.Shoot) { s.Labels = map[string]string{"a": "b"} })
	if failures := r.queue.NumRequeues(request); failures != 5 {
		t.Errorf("after any change %d failures are remembered, want 5", failures)
	}
	r.delete(t)
	if failures := r.queue.NumRequeues(request); failures != 0 {
		t.Errorf("when the deletion begins %d failures are remembered, want none", failures)
	}
}

// forcedRun is an operation that runs while the owner of the shoot changes it, as the watch tells.
type forcedRun struct {
	*landscape

	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// change changes the shoot, of which the watch tells.
func (r forcedRun) change(t *testing.T, change func(*gardencorev1beta1.Shoot)) {
	t.Helper()
	before := r.shoot(t)
	after := before.DeepCopy()
	change(after)
	if err := r.GardenClient.Patch(t.Context(), after, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	r.tell(t, before)
}

func (r forcedRun) delete(t *testing.T) {
	t.Helper()
	before := r.shoot(t)
	if err := r.GardenClient.Delete(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	r.tell(t, before)
}

func (r forcedRun) tell(t *testing.T, before *gardencorev1beta1.Shoot) {
	t.Helper()
	r.Leaving().Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: r.shoot(t)}, r.queue)
}

// interrupt runs the operation until a forced deletion ends it.
func (r forcedRun) interrupt(t *testing.T, reason string, deletes bool) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := r.pass(t.Context())
		done <- err
	}()
	time.Sleep(30 * time.Second) // of the time of the bubble
	if deletes {
		r.delete(t)
	}
	r.change(t, func(s *gardencorev1beta1.Shoot) { s.Labels = map[string]string{"any": "change"} })
	synctest.Wait()
	if last := r.shoot(t).Status.LastOperation; last == nil || last.State != "Processing" || len(done) > 0 || r.queue.Len() > 0 {
		t.Fatalf("%s: the operation waits, got %+v", reason, last)
	}
	began := time.Now()
	r.change(t, func(s *gardencorev1beta1.Shoot) { s.Annotations = map[string]string{forceDeletion: "true"} })
	if err := <-done; err != nil {
		t.Errorf("%s: Reconcile(...) returned %v, although the end was wanted", reason, err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("%s: the operation ended %s after the forced deletion was asked for", reason, took)
	}
	if got := r.queue.Len(); got != 1 {
		t.Errorf("%s: %d passes are asked for, want the next one", reason, got)
	}
	status := r.shoot(t).Status
	const why = "The operation was ended before it was done, because the shoot is to be deleted by force (annotation confirmation.gardener.cloud/force-deletion)"
	if last := status.LastOperation; last.State != "Aborted" || last.Description != why {
		t.Errorf("%s: last operation %+v, want that it was ended and why", reason, last)
	}
	var told []string
	for _, e := range status.LastErrors {
		told = append(told, e.Description)
	}
	if diff := cmp.Diff([]string{"in use", why}, told); diff != "" {
		t.Errorf("%s: the errors of before stay, and the reason is among them (-want +got):\n%s", reason, diff)
	}
}

// TestPassAndWatch_GLET_FORCE_1 goes through the orders in which a pass reads a shoot and the watch tells of its forced deletion.
func TestPassAndWatch_GLET_FORCE_1(t *testing.T) {
	t.Parallel()
	plain := running(leaving)
	forced := running(leaving, annotated(forceDeletion, "true"))
	another := func(s *gardencorev1beta1.Shoot) *gardencorev1beta1.Shoot {
		s = s.DeepCopy()
		s.UID = types.UID("another")
		return s
	}
	read := func(s *gardencorev1beta1.Shoot) func(*shoot.Passes, func()) {
		return func(p *shoot.Passes, _ func()) { p.Reads(s) }
	}
	told := func(s *gardencorev1beta1.Shoot) func(*shoot.Passes, func()) {
		return func(p *shoot.Passes, again func()) { p.Force(s, again) }
	}
	for name, tc := range map[string]struct {
		reason string
		steps  []func(*shoot.Passes, func())
		// ends is set if the pass ends, again is how often the next one is asked for.
		ends  bool
		again int
	}{
		"Nothing":    {reason: "an ordinary pass goes on", steps: []func(*shoot.Passes, func()){read(plain)}},
		"After":      {reason: "the pass runs for what it has read before", steps: []func(*shoot.Passes, func()){read(plain), told(forced)}, ends: true, again: 1},
		"Stale":      {reason: "the watch is faster than the read", steps: []func(*shoot.Passes, func()){told(forced), read(plain)}, ends: true, again: 1},
		"Same":       {reason: "the read has found it too", steps: []func(*shoot.Passes, func()){told(forced), read(forced)}, again: 1},
		"Late":       {reason: "the pass itself is the forced deletion, and its own writes are told", steps: []func(*shoot.Passes, func()){read(forced), told(forced), told(forced)}},
		"Former":     {reason: "the watch tells of a shoot of that name that is gone", steps: []func(*shoot.Passes, func()){read(another(plain)), told(forced)}, again: 1},
		"FormerSeen": {reason: "and has told it before the read", steps: []func(*shoot.Passes, func()){told(forced), read(another(plain))}, again: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &shoot.Passes{}
			asked := 0
			p.Force(forced, func() { asked += 100 }) // Nothing runs yet.
			ctx, leave := p.Enter(t.Context(), client.ObjectKeyFromObject(plain))
			for _, step := range tc.steps {
				step(p, func() {
					if ctx.Err() != nil {
						t.Errorf("%s: the pass has ended before the next one was asked for", tc.reason)
					}
					asked++
				})
			}
			if got := shoot.WasInterrupted(ctx); got != tc.ends {
				t.Errorf("%s: interrupted = %t, want %t", tc.reason, got, tc.ends)
			}
			if asked != tc.again {
				t.Errorf("%s: the next pass was asked for %d times, want %d", tc.reason, asked, tc.again)
			}
			leave()
			p.Force(forced, func() { asked += 100 })
			if asked != tc.again {
				t.Errorf("%s: after its end the pass is still known", tc.reason)
			}
		})
	}
}

// TestStopIsNoInterruption_GLET_FORCE_1: the end of the process is what ended a pass, and the next process continues it.
func TestStopIsNoInterruption_GLET_FORCE_1(t *testing.T) {
	t.Parallel()
	p := &shoot.Passes{}
	parent, stop := context.WithCancel(t.Context())
	ctx, leave := p.Enter(parent, client.ObjectKey{Namespace: "garden-dev", Name: "a"})
	defer leave()
	stop()
	if ctx.Err() == nil || shoot.WasInterrupted(ctx) {
		t.Errorf("the pass ended with %v, want the end of the process", context.Cause(ctx))
	}
}
