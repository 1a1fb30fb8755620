// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

type condition = gardencorev1beta1.Condition

func at(second int) time.Time {
	return time.Date(2026, 1, 1, 12, 0, second, 0, time.UTC)
}

func ready(status gardencorev1beta1.ConditionStatus, since int) condition {
	return condition{Type: "GardenletReady", Status: status, LastTransitionTime: metav1.NewTime(at(since))}
}

// selfHosted is a shoot with conditions.
func selfHosted(conditions ...condition) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "lone", UID: "lone"}}
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "one", ControlPlane: &gardencorev1beta1.WorkerControlPlane{}}}
	s.Status.Conditions = conditions
	return s
}

func lease(namespace, name string, renewed int) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(at(renewed)))},
	}
}

// seen is what a pass leaves: when the shoot is looked at again, the statuses of its conditions, and the number of its constraints.
type seen struct {
	Again       time.Duration
	Conditions  map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus
	Constraints int
}

// TestReconcile_GCM_SEEDLIFE_6 looks at a self-hosted shoot 100 s after the beginning, with a monitor period of 40 s and one of 90 s for what its
// gardenlet reports.
func TestReconcile_GCM_SEEDLIFE_6(t *testing.T) {
	t.Parallel()
	type statuses = map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus
	healthy := condition{Type: "APIServerAvailable", Status: "True"}
	lost := statuses{
		"GardenletReady": "Unknown", "APIServerAvailable": "Unknown", "ControlPlaneHealthy": "Unknown", "ObservabilityComponentsHealthy": "Unknown",
		"EveryNodeReady": "Unknown", "SystemComponentsHealthy": "Unknown",
	}
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		lease  *coordinationv1.Lease
		want   seen
	}{
		"never connected": {reason: "nothing is known of it, and nobody has to look again", shoot: selfHosted(), want: seen{}},
		"beats": {
			reason: "it is left alone", shoot: selfHosted(ready("True", 0), healthy), lease: lease("garden-dev", "self-hosted-shoot-lone", 61),
			want: seen{Again: 10 * time.Second, Conditions: statuses{"GardenletReady": "True", "APIServerAvailable": "True"}},
		},
		"silent": {
			reason: "what it reported may still hold", shoot: selfHosted(ready("True", 0), healthy), lease: lease("garden-dev", "self-hosted-shoot-lone", 60),
			want: seen{Again: 10 * time.Second, Conditions: statuses{"GardenletReady": "Unknown", "APIServerAvailable": "True"}},
		},
		"no lease": {
			reason: "a gardenlet that has reported and has no lease is silent", shoot: selfHosted(healthy),
			want: seen{Again: 10 * time.Second, Conditions: statuses{"GardenletReady": "Unknown", "APIServerAvailable": "True"}},
		},
		"lease elsewhere": {
			reason: "the lease is in the namespace of the shoot", shoot: selfHosted(ready("True", 0)), lease: lease("gardener-system-seed-lease", "self-hosted-shoot-lone", 99),
			want: seen{Again: 10 * time.Second, Conditions: statuses{"GardenletReady": "Unknown"}},
		},
		"lease of a seed": {
			reason: "and has a prefix", shoot: selfHosted(ready("True", 0)), lease: lease("garden-dev", "lone", 99),
			want: seen{Again: 10 * time.Second, Conditions: statuses{"GardenletReady": "Unknown"}},
		},
		"not for long": {
			reason: "it may still come back", shoot: selfHosted(ready("Unknown", 11), healthy),
			want: seen{Again: 10 * time.Second, Conditions: statuses{"GardenletReady": "Unknown", "APIServerAvailable": "True"}},
		},
		"for long": {
			reason: "nobody knows any more", shoot: selfHosted(ready("Unknown", 10), healthy),
			want: seen{Again: 10 * time.Second, Conditions: lost, Constraints: 2},
		},
		"back": {
			reason: "one that beats again reports by itself", shoot: selfHosted(ready("Unknown", 10), healthy), lease: lease("garden-dev", "self-hosted-shoot-lone", 99),
			want: seen{Again: 10 * time.Second, Conditions: statuses{"GardenletReady": "Unknown", "APIServerAvailable": "True"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, pass(t, tc.shoot, tc.lease)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// pass looks at a shoot, of which there may be a lease.
func pass(t *testing.T, shoot *gardencorev1beta1.Shoot, lease *coordinationv1.Lease) seen {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(kinds).WithObjects(shoot).WithStatusSubresource(shoot)
	if lease != nil {
		builder.WithObjects(lease)
	}
	c := builder.Build()
	period := func(length time.Duration) *metav1.Duration { return &metav1.Duration{Duration: length} }
	r := &lifecycle.Reconciler{
		Base:   kit.Base{Client: c, Reader: c, Clock: clocktesting.NewFakeClock(at(100))},
		Config: gardenconfigv1alpha1.ServerSeedControllerConfiguration{SyncPeriod: period(10 * time.Second), MonitorPeriod: period(40 * time.Second), ShootMonitorPeriod: period(90 * time.Second)},
	}
	result, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(shoot)})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
		t.Fatal(err)
	}
	got := seen{Again: result.RequeueAfter, Constraints: len(shoot.Status.Constraints)}
	for _, found := range shoot.Status.Conditions {
		if got.Conditions == nil {
			got.Conditions = map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{}
		}
		got.Conditions[found.Type] = found.Status
	}
	return got
}
