// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestRenew looks at the ManagedSeed of a seed after a pass.
func TestRenew(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason  string
		until   time.Time
		beats   bool
		managed string
		want    string
	}{
		"GCM-SEEDLIFE-4 expired": {reason: "its gardenlet cannot come back by itself", until: at(1), managed: "garden", want: "reconcile"},
		"GCM-SEEDLIFE-4 valid":   {reason: "its gardenlet can come back", until: at(50), managed: "garden"},
		"GCM-SEEDLIFE-4 beats":   {reason: "it has not stopped yet", until: at(1), beats: true, managed: "garden"},
		"GCM-SEEDLIFE-4 foreign": {reason: "managed seeds are in namespace garden", until: at(1), managed: "garden-dev"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
			seed.Status.ClientCertificateExpirationTimestamp = new(metav1.NewTime(tc.until))
			seed.Status.Conditions = []condition{{Type: "GardenletReady", Status: "True", LastTransitionTime: metav1.NewTime(at(0))}}
			managed := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: tc.managed, Name: "eu"}}
			objects := []client.Object{seed, managed}
			if tc.beats {
				objects = append(objects, &coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: "eu"},
					Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(at(10)))},
				})
			}
			c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).WithStatusSubresource(seed).Build()
			r := &lifecycle.Reconciler{
				Base: kit.Base{Client: c, Reader: c, Clock: clocktesting.NewFakeClock(at(10))},
				Config: gardenconfigv1alpha1.ServerSeedControllerConfiguration{
					SyncPeriod:         &metav1.Duration{Duration: time.Second},
					MonitorPeriod:      &metav1.Duration{Duration: 40 * time.Second},
					ShootMonitorPeriod: &metav1.Duration{Duration: time.Hour},
				},
			}
			if _, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(seed)}); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(managed), managed); err != nil {
				t.Fatal(err)
			}
			var want map[string]string
			if tc.want != "" {
				want = map[string]string{"gardener.cloud/operation": tc.want}
			}
			if diff := cmp.Diff(want, managed.Annotations); diff != "" {
				t.Errorf("%s\nannotations of the ManagedSeed (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNeverConnected(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(seed).WithStatusSubresource(seed).Build()
	r := &lifecycle.Reconciler{
		Base:   kit.Base{Client: c, Reader: c, Clock: clocktesting.NewFakeClock(at(10))},
		Config: gardenconfigv1alpha1.ServerSeedControllerConfiguration{SyncPeriod: &metav1.Duration{Duration: 10 * time.Second}},
	}
	result, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(seed)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(reconcile.Result{RequeueAfter: 10 * time.Second}, result); diff != "" {
		t.Errorf("GCM-SEEDLIFE-1: the seed is checked again after the sync period (-want +got):\n%s", diff)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(seed), seed); err != nil {
		t.Fatal(err)
	}
	if len(seed.Status.Conditions) > 0 {
		t.Errorf("GCM-SEEDLIFE-1: a seed that never connected is left alone, got %v", seed.Status.Conditions)
	}
}

// TestLeaseIsReadOnceInItsPeriod looks at a seed whose gardenlet renews its lease, three times.
func TestLeaseIsReadOnceInItsPeriod(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	seed.Status.Conditions = []condition{{Type: "GardenletReady", Status: "True", LastTransitionTime: metav1.NewTime(at(0))}}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: "eu"},
		Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(at(0)))},
	}
	reads := 0
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(kinds).WithObjects(seed, lease).WithStatusSubresource(seed).Build(), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
			if _, is := object.(*coordinationv1.Lease); is {
				reads++
			}

			return c.Get(ctx, key, object, o...)
		},
	})
	clock := clocktesting.NewFakeClock(at(1))
	r := &lifecycle.Reconciler{
		Base: kit.Base{Client: c, Reader: c, Clock: clock},
		Config: gardenconfigv1alpha1.ServerSeedControllerConfiguration{
			SyncPeriod:         &metav1.Duration{Duration: 10 * time.Second},
			MonitorPeriod:      &metav1.Duration{Duration: 40 * time.Second},
			ShootMonitorPeriod: &metav1.Duration{Duration: time.Hour},
		},
	}
	// look is what is known after a pass: how often the lease was read, and the condition.
	type look struct {
		Reads int
		Ready gardencorev1beta1.ConditionStatus
	}
	pass := func(now time.Time) look {
		t.Helper()
		clock.SetTime(now)
		if _, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(seed)}); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(seed), seed); err != nil {
			t.Fatal(err)
		}

		return look{reads, seed.Status.Conditions[0].Status}
	}
	got := []look{pass(at(1)), pass(at(11)), pass(at(39)), pass(at(40))}
	if diff := cmp.Diff([]look{{1, "True"}, {1, "True"}, {1, "True"}, {2, "Unknown"}}, got); diff != "" {
		t.Errorf("reads of the lease, and the condition (-want +got):\n%s", diff)
	}

	// The clock of the gardenlet is far ahead for a while.
	renew := func(now time.Time) {
		t.Helper()
		lease.Spec.RenewTime = new(metav1.NewMicroTime(now))
		if err := c.Update(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
	seed.Status.Conditions[0].Status, reads = "True", 0
	if err := c.Status().Update(t.Context(), seed); err != nil {
		t.Fatal(err)
	}
	renew(at(7200))
	got = []look{pass(at(50))}
	renew(at(51))
	got = append(got, pass(at(60)), pass(at(91)))
	if diff := cmp.Diff([]look{{1, "True"}, {1, "True"}, {2, "Unknown"}}, got); diff != "" {
		t.Errorf("a renewal in the future: reads of the lease, and the condition (-want +got):\n%s", diff)
	}
}
