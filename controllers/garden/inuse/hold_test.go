// SPDX-License-Identifier: Apache-2.0

package inuse_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kit/kittest"
)

// TestHold_GCM_USE_1 has classes that are protected together with something else, which may fail.
func TestHold_GCM_USE_1(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	ending := func(c *gardencorev1beta1.ExposureClass) { c.DeletionTimestamp = new(metav1.Now()) }
	held := func(c *gardencorev1beta1.ExposureClass) { c.Finalizers = []string{"gardener", "test/held"} }
	foreign := func(c *gardencorev1beta1.ExposureClass) { c.Finalizers = []string{"test/held"} }
	for name, tc := range map[string]struct {
		reason string
		change []func(*gardencorev1beta1.ExposureClass)
		// fails is the step that fails.
		fails string
		steps []string
		want  []string
	}{
		"live":       {reason: "it is held, and so is the rest", steps: []string{"patch", "hold"}, want: []string{"gardener"}},
		"held":       {reason: "the rest is held each time", change: []func(*gardencorev1beta1.ExposureClass){held}, steps: []string{"hold"}, want: []string{"gardener", "test/held"}},
		"unheld":     {reason: "the rest could go before it", fails: "patch", steps: []string{"patch"}},
		"rest":       {reason: "the rest is not held", fails: "hold", steps: []string{"patch", "hold"}, want: []string{"gardener"}},
		"ending":     {reason: "the rest is freed first", change: []func(*gardencorev1beta1.ExposureClass){held, ending}, steps: []string{"list", "free", "patch"}, want: []string{"test/held"}},
		"unfreed":    {reason: "nobody would free it later", change: []func(*gardencorev1beta1.ExposureClass){held, ending}, fails: "free", steps: []string{"list", "free"}, want: []string{"gardener", "test/held"}},
		"unlisted":   {reason: "somebody may use it", change: []func(*gardencorev1beta1.ExposureClass){held, ending}, fails: "list", steps: []string{"list"}, want: []string{"gardener", "test/held"}},
		"not ours":   {reason: "what others hold was freed already", change: []func(*gardencorev1beta1.ExposureClass){foreign, ending}, want: []string{"test/held"}},
		"unknown":    {reason: "it may be there", fails: "get"},
		"never seen": {reason: "nothing is to be done", change: []func(*gardencorev1beta1.ExposureClass){func(c *gardencorev1beta1.ExposureClass) { c.Name = "other" }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kinds, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			class := &gardencorev1beta1.ExposureClass{ObjectMeta: metav1.ObjectMeta{Name: "private"}}
			for _, change := range tc.change {
				change(class)
			}
			var steps []string
			step := func(what string) error {
				if what != "get" {
					steps = append(steps, what)
				}
				if what == tc.fails {
					return errBoom
				}
				return nil
			}
			whole := fake.NewClientBuilder().WithScheme(kinds).WithObjects(class).Build()
			c := interceptor.NewClient(whole, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					if err := step("get"); err != nil {
						return err
					}
					return c.Get(ctx, key, o, options...)
				},
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if err := step("list"); err != nil {
						return err
					}
					return c.List(ctx, list, options...)
				},
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
					if err := step("patch"); err != nil {
						return err
					}
					return c.Patch(ctx, o, patch, options...)
				},
			})
			r := &inuse.Reconciler{Base: kit.Base{Client: c, Reader: c, Recorder: events.NewFakeRecorder(10)}, Protection: inuse.ExposureClasses()}
			r.Protection.Hold = func(context.Context, *kit.Base, client.Object) error { return step("hold") }
			r.Protection.Free = func(context.Context, *kit.Base, client.Object) error { return step("free") }
			_, err = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "private"}})
			if (tc.fails != "") != errors.Is(err, errBoom) {
				t.Errorf("%s\nReconcile(...) = %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.steps, steps); diff != "" {
				t.Errorf("%s\nsteps (-want +got):\n%s", tc.reason, diff)
			}
			if err := whole.Get(t.Context(), client.ObjectKeyFromObject(class), class); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, class.Finalizers); diff != "" {
				t.Errorf("%s\nfinalizers (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReleasedAtOnce_GCM_USE_2 has shoots change and go, with one worker: classes are looked at in the order of the events.
func TestReleasedAtOnce_GCM_USE_2(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	looked := make(chan string, 100)
	c := fake.NewClientBuilder().WithScheme(kinds).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			looked <- key.Name
			return c.Get(ctx, key, o, options...)
		},
	}).Build()
	cluster := kittest.NewCluster(t, kinds)
	r := &inuse.Reconciler{Base: kit.Base{Client: c, Queue: kit.Queue{Concurrency: 1}}, Protection: inuse.ExposureClasses()}
	r.Protection.Only = func(object client.Object) bool { return object.GetName() != "open" }
	if err := r.AddToManager(kit.Clusters{Garden: cluster.Manager}); err != nil {
		t.Fatal(err)
	}
	if r.Protection.EventType != "Normal" {
		t.Errorf("GCM-USE-2: events are of type %q, want Normal if nothing else is said", r.Protection.EventType)
	}
	cluster.Start(t)
	next := func(n int) (got []string) {
		for late := time.After(30 * time.Second); len(got) < n; {
			select {
			case name := <-looked:
				got = append(got, name)
			case <-late:
				return got
			}
		}
		return got
	}
	class := func(name string) *gardencorev1beta1.ExposureClass {
		return &gardencorev1beta1.ExposureClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	using := func(name, class string) *gardencorev1beta1.Shoot {
		return shoot(name, gardencorev1beta1.ShootSpec{ExposureClassName: &class})
	}
	classes, shoots := cluster.Of(class("")), cluster.Of(using("", ""))
	classes.Add(class("open"))
	classes.Add(class("new"))
	if diff := cmp.Diff([]string{"new"}, next(1)); diff != "" {
		t.Errorf("GCM-USE-1: new ones are looked at, if they are protected (-want +got):\n%s", diff)
	}
	shoots.Add(using("a", "one"))
	shoots.Add(using("b", "two"))
	same := using("a", "one")
	same.Generation = 2
	shoots.Modify(same)
	shoots.Modify(using("a", "three"))
	shoots.Delete(using("b", "two"))
	if diff := cmp.Diff([]string{"one", "two"}, next(2)); diff != "" {
		t.Errorf("what a shoot does not use any more is looked at, and nothing else (-want +got):\n%s", diff)
	}
}
