// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

type infrastructure = gardenextensionsv1alpha1.Infrastructure

// actor notes how it is called.
type actor struct{ calls []string }

func (a *actor) Reconcile(context.Context, *infrastructure, *engine.Cluster) error {
	a.calls = append(a.calls, "Reconcile")
	return nil
}

func (a *actor) Delete(context.Context, *infrastructure, *engine.Cluster) error {
	a.calls = append(a.calls, "Delete")
	return nil
}

func (a *actor) Migrate(context.Context, *infrastructure, *engine.Cluster) error {
	a.calls = append(a.calls, "Migrate")
	return nil
}

// TestMigrated_EXT_OP_5 asks for everything that may be asked of an object that was migrated.
func TestMigrated_EXT_OP_5(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	const finalizer = "extensions.gardener.cloud/infrastructure"
	cases := map[string]struct {
		reason  string
		changes []func(*infrastructure)
		want    []string
	}{
		"Reconcile":  {reason: "another seed acts on it by now", changes: []func(*infrastructure){asks("reconcile")}},
		"Deletion":   {reason: "what it stands for belongs to another seed", changes: []func(*infrastructure){deleted}},
		"Start":      {reason: "a controller that starts does not take it up", changes: nil},
		"Migrate":    {reason: "a migration may be repeated", changes: []func(*infrastructure){asks("migrate")}, want: []string{"Migrate"}},
		"Restore":    {reason: "it may come back", changes: []func(*infrastructure){asks("restore")}, want: []string{"Reconcile"}},
		"Unfinished": {reason: "a migration that failed goes on", changes: []func(*infrastructure){last("Migrate", "Error")}, want: []string{"Migrate"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := object(append([]func(*infrastructure){last("Migrate", "Succeeded")}, tc.changes...)...)
			o.Namespace, o.Name, o.Finalizers = "shoot--dev--sprout", "sprout", []string{finalizer}
			seed, a := fake.NewClientBuilder().WithScheme(types).WithObjects(o).WithStatusSubresource(o).Build(), &actor{}
			r := &engine.Reconciler[*infrastructure]{
				Base: kit.Base{Client: seed, Reader: seed, Clock: clocktesting.NewFakeClock(time.Unix(1000, 0))},
				Name: "infrastructure", New: func() *infrastructure { return &infrastructure{} }, Finalizer: finalizer, Actor: a, Limit: time.Minute,
			}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, a.calls); diff != "" {
				t.Errorf("%s\ncalls of the actor (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
