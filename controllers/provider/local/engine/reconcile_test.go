// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
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

// TestWrites_EXT_CTRL_2_EXT_OP_3 is about the order of all writes of a run: between any two of them the process may end, or the object be
// deleted.
func TestWrites_EXT_CTRL_2_EXT_OP_3(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	const finalizer = "extensions.gardener.cloud/infrastructure"
	held, begun, freed, done := `object: finalizer, reconcile`, `status: Processing 1%`, `object: finalizer`, `status: Succeeded 100%`
	cases := map[string]struct {
		reason  string
		changes []func(*infrastructure)
		want    []string
	}{
		"Create": {reason: "an object is held before anything is said of it", changes: []func(*infrastructure){asks("reconcile")}, want: []string{held, begun, freed, done}},
		"Again": {
			reason: "one that is held is begun at once", want: []string{begun, freed, done},
			changes: []func(*infrastructure){asks("reconcile"), last("Create", "Succeeded"), func(o *infrastructure) { o.Finalizers = []string{finalizer} }},
		},
		"Restore": {
			reason: "the request to restore goes after the success", changes: []func(*infrastructure){asks("restore")},
			want: []string{`object: finalizer, restore`, begun, done, freed},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := object(tc.changes...)
			o.Namespace, o.Name = "shoot--dev--sprout", "sprout"
			var writes []string
			seed := fake.NewClientBuilder().WithScheme(types).WithObjects(o).WithStatusSubresource(o).WithInterceptorFuncs(interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
					err := c.Patch(ctx, o, patch, opts...)
					line := "object: finalizer"
					if !slices.Contains(o.GetFinalizers(), finalizer) {
						line = "object"
					}
					if asked := o.GetAnnotations()["gardener.cloud/operation"]; asked != "" {
						line += ", " + asked
					}
					writes = append(writes, line)
					return err
				},
				SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
					err := c.SubResource(sub).Patch(ctx, o, patch, opts...)
					if i, ok := o.(*infrastructure); ok {
						writes = append(writes, fmt.Sprintf("%s: %s %d%%", sub, i.Status.LastOperation.State, i.Status.LastOperation.Progress))
					}
					return err
				},
			}).Build()
			r := &engine.Reconciler[*infrastructure]{
				Base: kit.Base{Client: seed, Reader: seed, Clock: clocktesting.NewFakeClock(time.Unix(1000, 0))},
				Name: "infrastructure", New: func() *infrastructure { return &infrastructure{} }, Finalizer: finalizer, Actor: &actor{}, Limit: time.Minute,
			}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, writes); diff != "" {
				t.Errorf("%s\nwrites (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
