// SPDX-License-Identifier: Apache-2.0

package bastion_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/bastion"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestShoots_GCM_BASTION_1 has changes of a shoot, and whether its Bastions are judged again.
func TestShoots_GCM_BASTION_1(t *testing.T) {
	t.Parallel()
	shoot := func(change func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
		s := &gardencorev1beta1.Shoot{}
		s.Spec.SeedName = new("one")
		change(s)
		return s
	}
	as := shoot(func(*gardencorev1beta1.Shoot) {})
	for reason, tc := range map[string]struct {
		after *gardencorev1beta1.Shoot
		want  bool
	}{
		"it ends":  {after: shoot(func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = new(metav1.Now()) }), want: true},
		"it moves": {after: shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("two") }), want: true},
		"its machines are closed": {after: shoot(func(s *gardencorev1beta1.Shoot) {
			s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{}}
		}), want: true},
		"it grows": {after: shoot(func(s *gardencorev1beta1.Shoot) {
			s.Generation, s.Spec.Provider.Workers = 2, make([]gardencorev1beta1.Worker, 1)
		})},
	} {
		if got := bastion.Leaves().Update(event.UpdateEvent{ObjectOld: as, ObjectNew: tc.after}); got != tc.want {
			t.Errorf("%s: its Bastions are judged again %t, want %t", reason, got, tc.want)
		}
	}
	if !bastion.Leaves().Delete(event.DeleteEvent{Object: as}) {
		t.Error("a shoot that is gone has no Bastions")
	}
}

// TestDeletion looks at what is asked of the server.
func TestDeletion(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	held := func(b *gardenoperationsv1alpha1.Bastion) {
		b.Finalizers, b.UID, b.ResourceVersion = []string{"test/held"}, "u", "7"
	}
	ending := func(b *gardenoperationsv1alpha1.Bastion) { b.DeletionTimestamp = new(metav1.NewTime(at(0))) }
	errBoom := errors.New("boom")
	for name, tc := range map[string]struct {
		reason  string
		bastion *gardenoperationsv1alpha1.Bastion
		// fails is the error of a read of the shoot, refused that of the deletion.
		fails, refused error
		want           []metav1.Preconditions
		again          error
	}{
		"GCM-BASTION-2 ending":  {reason: "nobody deletes it again", bastion: host(held, ending)},
		"GCM-BASTION-3 unknown": {reason: "a shoot that cannot be read may be there", bastion: host(held), fails: errBoom, again: errBoom},
		"GCM-BASTION-4 seen": {
			reason: "it is deleted only as it was seen: a heartbeat in between keeps it", bastion: host(held),
			want: []metav1.Preconditions{{UID: new(types.UID("u")), ResourceVersion: new("7")}},
		},
		"GCM-BASTION-4 refused": {
			reason: "a deletion that fails is tried again", bastion: host(held), refused: errBoom, again: errBoom,
			want: []metav1.Preconditions{{UID: new(types.UID("u")), ResourceVersion: new("7")}},
		},
		"GCM-BASTION-4 gone": {
			reason: "unless somebody was faster", bastion: host(held), refused: apierrors.NewNotFound(gardenoperationsv1alpha1.Resource("bastions"), "door"),
			want: []metav1.Preconditions{{UID: new(types.UID("u")), ResourceVersion: new("7")}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []metav1.Preconditions
			garden := fake.NewClientBuilder().WithScheme(kinds).WithObjects(tc.bastion.DeepCopy()).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if _, shoot := object.(*gardencorev1beta1.Shoot); shoot && tc.fails != nil {
						return tc.fails
					}
					return c.Get(ctx, key, object, options...)
				},
				Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, options ...client.DeleteOption) error {
					asked := (&client.DeleteOptions{Preconditions: &metav1.Preconditions{}}).ApplyOptions(options)
					got = append(got, *asked.Preconditions)
					return tc.refused
				},
			}).Build()
			r := &bastion.Reconciler{
				Base:   kit.Base{Client: garden, Reader: garden, Clock: clocktesting.NewFakeClock(at(0))},
				Config: gardenconfigv1alpha1.ServerBastionControllerConfiguration{MaxLifetime: &metav1.Duration{Duration: 24 * time.Hour}},
			}
			if _, err := r.Reconcile(t.Context(), tc.bastion.DeepCopy()); !errors.Is(err, tc.again) {
				t.Errorf("%s\nReconcile(...) = %v, want %v", tc.reason, err, tc.again)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\ndeletions (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	held := func(b *gardenoperationsv1alpha1.Bastion) { b.Finalizers = []string{"test/held"} }
	ending := func(b *gardenoperationsv1alpha1.Bastion) { b.DeletionTimestamp = new(metav1.NewTime(at(0))) }
	for name, tc := range map[string]struct {
		reason  string
		bastion *gardenoperationsv1alpha1.Bastion
		// cached and live are the seeds of the shoot, as the cache and as the server know it; empty without a shoot.
		cached, live string
		now          float64
		deleted      bool
		again        time.Duration
	}{
		"GCM-BASTION-2 ending":  {reason: "it is left alone, although its shoot is gone", bastion: host(held, ending)},
		"GCM-BASTION-3 moved":   {reason: "it is deleted", bastion: host(held), cached: "south", live: "south", deleted: true},
		"GCM-BASTION-3 late":    {reason: "a cache that is behind deletes nothing", bastion: host(held), live: "north", again: 10 * time.Minute},
		"GCM-BASTION-4 expired": {reason: "it is deleted", bastion: host(held), cached: "north", live: "north", now: 2, deleted: true},
		"GCM-BASTION-5 lives":   {reason: "it is looked at when it would expire", bastion: host(held), cached: "north", live: "north", now: 0.9, again: 6*time.Minute + time.Millisecond},
		"GCM-BASTION-5 long":    {reason: "and before that, because timers do not run while a machine is suspended", bastion: host(held), cached: "north", live: "north", now: 0.5, again: 10 * time.Minute},
		"GCM-BASTION-5 the end": {reason: "a time that is just over is not no time", bastion: host(held), cached: "north", live: "north", now: 1, again: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := func(seed string) client.WithWatch {
				b := fake.NewClientBuilder().WithScheme(kinds).WithObjects(tc.bastion.DeepCopy())
				if seed != "" {
					b = b.WithObjects(cluster(&seed))
				}
				return b.Build()
			}
			cache := world(tc.cached)
			r := &bastion.Reconciler{
				Base:   kit.Base{Client: cache, Reader: world(tc.live), Clock: clocktesting.NewFakeClock(at(tc.now))},
				Config: gardenconfigv1alpha1.ServerBastionControllerConfiguration{MaxLifetime: &metav1.Duration{Duration: 24 * time.Hour}},
			}
			key := client.ObjectKeyFromObject(tc.bastion)
			result, err := reconcile.AsReconciler(cache, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(reconcile.Result{RequeueAfter: tc.again}, result); diff != "" {
				t.Errorf("%s\nReconcile(...) (-want +got):\n%s", tc.reason, diff)
			}
			found := &gardenoperationsv1alpha1.Bastion{}
			if err := cache.Get(t.Context(), key, found); err != nil {
				t.Fatal(err)
			}
			if deleted := found.DeletionTimestamp != nil && tc.bastion.DeletionTimestamp == nil; deleted != tc.deleted {
				t.Errorf("%s\ndeleted = %t, want %t", tc.reason, deleted, tc.deleted)
			}
		})
	}
}
