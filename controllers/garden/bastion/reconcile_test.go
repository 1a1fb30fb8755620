// SPDX-License-Identifier: Apache-2.0

package bastion_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/bastion"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

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
		"GCM-BASTION-3 late":    {reason: "a cache that is behind deletes nothing", bastion: host(held), live: "north", again: time.Hour + time.Millisecond},
		"GCM-BASTION-4 expired": {reason: "it is deleted", bastion: host(held), cached: "north", live: "north", now: 2, deleted: true},
		"GCM-BASTION-5 lives":   {reason: "it is looked at when it would expire", bastion: host(held), cached: "north", live: "north", now: 0.5, again: 30*time.Minute + time.Millisecond},
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
