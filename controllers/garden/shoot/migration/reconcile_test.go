// SPDX-License-Identifier: Apache-2.0

package migration_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/migration"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestMove_GCM_MIGR_1 follows a shoot from the wish to move until it has arrived.
func TestMove_GCM_MIGR_1(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}}
	shoot.Spec.SeedName, shoot.Status.SeedName = new("b"), new("a")
	shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded"}
	shoot.Status.Constraints = []gardencorev1beta1.Condition{{Type: "HibernationPossible", Status: "True"}}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	c := fake.NewClientBuilder().WithScheme(kinds).WithObjects(shoot).WithStatusSubresource(shoot, seed).Build()
	r := &migration.Reconciler{Base: kit.Base{Client: c, Clock: clocktesting.NewFakeClock(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))}}

	update := func(o client.Object, change func()) {
		t.Helper()
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
		change()
		if err := c.Status().Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	// look is the time until the next pass, and the constraints by their types.
	type look struct {
		Again       time.Duration
		Constraints map[gardencorev1beta1.ConditionType]string
	}
	pass := func() look {
		t.Helper()
		result, err := reconcile.AsReconciler(c, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(shoot)})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			t.Fatal(err)
		}
		found := map[gardencorev1beta1.ConditionType]string{}
		for _, constraint := range shoot.Status.Constraints {
			found[constraint.Type] = string(constraint.Status) + " " + constraint.Reason
		}
		return look{result.RequeueAfter, found}
	}
	check := func(what string, want look) {
		t.Helper()
		if diff := cmp.Diff(want, pass()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}

	moving := func(ready string) look {
		return look{5 * time.Second, map[gardencorev1beta1.ConditionType]string{"HibernationPossible": "True ", "ReadyForMigration": ready}}
	}
	check("the destination does not exist", moving("False DestinationSeedUnready"))
	if err := c.Create(t.Context(), seed); err != nil {
		t.Fatal(err)
	}
	update(seed, func() {
		seed.Status.Conditions = []gardencorev1beta1.Condition{{Type: "GardenletReady", Status: "True"}, {Type: "SeedSystemComponentsHealthy", Status: "True"}}
	})
	check("it is there", moving("True DestinationSeedReady"))
	update(shoot, func() {
		shoot.Status.SeedName = new("b")
		shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Restore", State: "Succeeded"}
	})
	check("the shoot has arrived", look{0, map[gardencorev1beta1.ConditionType]string{"HibernationPossible": "True "}})
}
