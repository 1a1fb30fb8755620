// SPDX-License-Identifier: Apache-2.0

package conditions_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/conditions"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kit/kittest"
)

// made is a ManagedSeed that is made of a shoot; of none, if that has no name.
func made(namespace, name, shoot string) *gardenseedmanagementv1alpha1.ManagedSeed {
	m := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if shoot != "" {
		m.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: shoot}
	}
	return m
}

func seed(name string, status gardencorev1beta1.ConditionStatus) *gardencorev1beta1.Seed {
	return &gardencorev1beta1.Seed{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     gardencorev1beta1.SeedStatus{Conditions: []condition{{Type: "GardenletReady", Status: status}}},
	}
}

// clients is a garden in which reads fail for which broken returns an error.
func clients(t *testing.T, broken func(what string) error, objects ...client.Object) client.WithWatch {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).WithStatusSubresource(&gardencorev1beta1.Shoot{}).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if err := broken(fmt.Sprintf("%T %s", o, key.Name)); err != nil {
				return err
			}
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := broken(fmt.Sprintf("%T", list)); err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
	}).Build()
}

func TestReconcile_GCM_SHOOTCOND_1(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	before := condition{Type: "GardenletReady", Status: "Unknown"}
	for name, tc := range map[string]struct {
		reason  string
		objects []client.Object
		fails   string
		want    []condition
	}{
		"seed":      {reason: "the shoot is a seed", objects: []client.Object{made("garden", "eu", "rose"), seed("eu", "True")}, want: []condition{{Type: "GardenletReady", Status: "True"}}},
		"another":   {reason: "another one is", objects: []client.Object{made("garden", "eu", "tulip"), made("garden", "us", ""), seed("eu", "True")}},
		"namesake":  {reason: "a shoot of its name in another namespace is", objects: []client.Object{made("garden-dev", "eu", "rose"), seed("eu", "True")}},
		"not yet":   {reason: "the seed is not there yet, or no more", objects: []client.Object{made("garden", "eu", "rose")}},
		"no list":   {reason: "a shoot is no seed only if that is known", fails: "*v1alpha1.ManagedSeedList", want: []condition{before}},
		"no answer": {reason: "nor has it lost its seed", objects: []client.Object{made("garden", "eu", "rose")}, fails: "*v1beta1.Seed eu", want: []condition{before}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "rose"}}
			shoot.Status.Conditions = []condition{before}
			c := clients(t, func(what string) error {
				if what == tc.fails {
					return errBoom
				}
				return nil
			}, append(tc.objects, shoot)...)
			key := client.ObjectKeyFromObject(shoot)
			_, err := reconcile.AsReconciler(c, &conditions.Reconciler{Base: kit.Base{Client: c}}).Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
			if (tc.fails != "") != errors.Is(err, errBoom) {
				t.Errorf("%s\nReconcile(...) = %v", tc.reason, err)
			}
			if err := c.Get(t.Context(), key, shoot); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, shoot.Status.Conditions); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWatches_GCM_SHOOTCOND_2 sees ManagedSeeds and seeds change, with one worker: shoots are looked at in the order of the events.
func TestWatches_GCM_SHOOTCOND_2(t *testing.T) {
	t.Parallel()
	looked := make(chan string, 100)
	c := clients(t, func(what string) error {
		if name, is := cutShoot(what); is {
			looked <- name
		}
		return nil
	}, made("garden", "eu", "rose"), made("garden", "lone", ""))
	cluster := kittest.NewCluster(t, c.Scheme())
	r := &conditions.Reconciler{Base: kit.Base{Client: c, Queue: kit.Queue{Concurrency: 1}}}
	if err := r.AddToManager(kit.Clusters{Garden: cluster.Manager}); err != nil {
		t.Fatal(err)
	}
	cluster.Start(t)
	next := func() string {
		select {
		case name := <-looked:
			return name
		case <-time.After(30 * time.Second):
			return "none"
		}
	}
	managed, seeds := cluster.Of(&gardenseedmanagementv1alpha1.ManagedSeed{}), cluster.Of(&gardencorev1beta1.Seed{})
	// What concerns no shoot comes before something that does, which shows that it was passed over.
	managed.Add(made("garden", "lone", ""))
	managed.Add(made("garden", "us", "tulip"))
	if diff := cmp.Diff("tulip", next()); diff != "" {
		t.Errorf("a ManagedSeed concerns its shoot, if it has one (-want +got):\n%s", diff)
	}
	seeds.Add(seed("unmanaged", "True"))
	seeds.Add(seed("lone", "True"))
	seeds.Add(seed("eu", "True"))
	if diff := cmp.Diff("rose", next()); diff != "" {
		t.Errorf("a seed concerns the shoot of the ManagedSeed of its name (-want +got):\n%s", diff)
	}
	seeds.Modify(seed("eu", "False"))
	if diff := cmp.Diff("rose", next()); diff != "" {
		t.Errorf("so does a change of its conditions (-want +got):\n%s", diff)
	}
}

func cutShoot(what string) (string, bool) { return strings.CutPrefix(what, "*v1beta1.Shoot ") }
