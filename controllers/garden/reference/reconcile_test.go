// SPDX-License-Identifier: Apache-2.0

package reference_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/reference"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	home       = "garden-dev"
	protection = "gardener.cloud/reference-protection"
)

// garden is one in which shoots are looked at by hand.
type garden struct {
	client.WithWatch

	t          *testing.T
	reconciler *reference.Reconciler
	// lists counts the lists that are read around the cache.
	lists int
}

func start(t *testing.T, objects ...client.Object) *garden {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	g := &garden{t: t, WithWatch: fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build()}
	around := interceptor.NewClient(g.WithWatch, interceptor.Funcs{
		List: func(ctx context.Context, from client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			g.lists++
			return from.List(ctx, list, options...)
		},
	})
	g.reconciler = &reference.Reconciler{Base: kit.Base{Client: g.WithWatch, Reader: around}, Holder: reference.Shoots()}
	return g
}

// hides has the cache not show yet what matches.
func (g *garden) hides(kind client.ObjectList) {
	g.t.Helper()
	g.reconciler.Client = interceptor.NewClient(g.WithWatch, interceptor.Funcs{
		List: func(ctx context.Context, from client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if fmt.Sprintf("%T", list) == fmt.Sprintf("%T", kind) {
				return nil
			}
			return from.List(ctx, list, options...)
		},
	})
}

func (g *garden) pass(shoot string) reconcile.Result {
	g.t.Helper()
	result, err := g.reconciler.Reconcile(g.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: home, Name: shoot}})
	if err != nil {
		g.t.Fatal(err)
	}
	return result
}

// protected lists the Secrets that have the finalizer.
func (g *garden) protected() []string {
	g.t.Helper()
	secrets := &corev1.SecretList{}
	if err := g.List(g.t.Context(), secrets); err != nil {
		g.t.Fatal(err)
	}
	var names []string
	for i := range secrets.Items {
		if slices.Contains(secrets.Items[i].Finalizers, protection) {
			names = append(names, secrets.Items[i].Name)
		}
	}
	return names
}

// refer changes what shoot one refers to.
func (g *garden) refer(to ...string) {
	g.t.Helper()
	s := &gardencorev1beta1.Shoot{}
	if err := g.Get(g.t.Context(), client.ObjectKey{Namespace: home, Name: "one"}, s); err != nil {
		g.t.Fatal(err)
	}
	s.Spec.Resources = shooting("one", to...).Spec.Resources
	if err := g.Update(g.t.Context(), s); err != nil {
		g.t.Fatal(err)
	}
}

func shooting(name string, secrets ...string) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name}}
	for _, secret := range secrets {
		s.Spec.Resources = append(s.Spec.Resources, referencing("Secret", secret).Spec.Resources...)
	}
	return s
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name}}
}

// TestQuietPass_GCM_SHOOTREF_3 counts what it costs that nothing has changed.
func TestQuietPass_GCM_SHOOTREF_3(t *testing.T) {
	t.Parallel()
	g := start(t, shooting("one", "a"), shooting("two", "b"), secret("a"), secret("b"))
	for _, shoot := range []string{"one", "two"} {
		if got := g.pass(shoot); got.RequeueAfter != 5*time.Second {
			t.Errorf("after something was protected another pass follows, got %+v", got)
		}
	}
	for _, shoot := range []string{"one", "two"} {
		if got := g.pass(shoot); got.RequeueAfter != 0 {
			t.Errorf("and then no other, got %+v", got)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, g.protected()); diff != "" {
		t.Errorf("what is protected (-want +got):\n%s", diff)
	}
	if g.lists != 0 {
		t.Errorf("%d lists were read around the cache, want none as long as nothing can be released", g.lists)
	}
}

// TestGoing_GCM_SHOOTREF_3 refers to a Secret that is being deleted: the server would refuse another finalizer, and what else the shoot refers to
// has to be protected.
func TestGoing_GCM_SHOOTREF_3(t *testing.T) {
	t.Parallel()
	going := secret("a")
	going.DeletionTimestamp, going.Finalizers = new(metav1.Now()), []string{"other"}
	g := start(t, shooting("one", "a", "b"), going, secret("b"))
	g.pass("one")
	if diff := cmp.Diff([]string{"b"}, g.protected()); diff != "" {
		t.Errorf("what is protected (-want +got):\n%s", diff)
	}
}

func TestRelease_GCM_SHOOTREF_3(t *testing.T) {
	t.Parallel()
	g := start(t, shooting("one", "a", "b"), shooting("two", "b"), secret("a"), secret("b"), secret("c"))
	g.pass("one")
	g.pass("two")
	g.refer("c")
	g.pass("one")
	if diff := cmp.Diff([]string{"b", "c"}, g.protected()); diff != "" {
		t.Errorf("what another shoot refers to stays, what none does is released (-want +got):\n%s", diff)
	}
	if g.lists == 0 {
		t.Error("nothing is released by what the cache shows alone")
	}
}

// TestOldCache_GCM_SHOOTREF_3 has a cache that does not show another shoot yet.
func TestOldCache_GCM_SHOOTREF_3(t *testing.T) {
	t.Parallel()
	g := start(t, shooting("one", "a"), shooting("two", "b"), secret("a"), secret("b"))
	g.pass("two")
	g.hides(&gardencorev1beta1.ShootList{})
	g.pass("one")
	if diff := cmp.Diff([]string{"a", "b"}, g.protected()); diff != "" {
		t.Errorf("only what is stored counts when something is released (-want +got):\n%s", diff)
	}
	if g.lists == 0 {
		t.Error("the cache showed something to release, so it has to be read around it")
	}
}

// TestLastPass_GCM_SHOOTREF_4 has a shoot let go before the cache shows that its Secret is protected.
func TestLastPass_GCM_SHOOTREF_4(t *testing.T) {
	t.Parallel()
	g := start(t, shooting("one", "a"), secret("a"))
	g.pass("one")
	g.hides(&metav1.PartialObjectMetadataList{})
	g.refer()
	g.pass("one")
	if got := g.protected(); len(got) > 0 {
		t.Errorf("%v are protected, want none after the last pass of a shoot without references", got)
	}
	left := &gardencorev1beta1.Shoot{}
	if err := g.Get(t.Context(), client.ObjectKey{Namespace: home, Name: "one"}, left); err != nil || len(left.Finalizers) > 0 {
		t.Errorf("the shoot has finalizers %v, %v, want none", left.Finalizers, err)
	}
}

// TestNamedMeanwhile_GCM_SHOOTREF_3 has a shoot come that refers to a Secret at the moment at which it is released. The pass of that shoot finds
// the Secret protected.
func TestNamedMeanwhile_GCM_SHOOTREF_3(t *testing.T) {
	t.Parallel()
	g := start(t, shooting("one", "a"), secret("a"))
	g.pass("one")
	g.refer()
	usual := g.reconciler
	come := func() {
		if err := g.Create(t.Context(), shooting("two", "a")); err != nil {
			t.Error(err)
		}
		g.reconciler = usual
		g.pass("two")
	}
	late := *usual
	late.Client = interceptor.NewClient(g.WithWatch, interceptor.Funcs{
		Patch: func(ctx context.Context, to client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if object.GetName() == "a" && !slices.Contains(object.GetFinalizers(), protection) {
				come()
			}
			return to.Patch(ctx, object, patch, options...)
		},
	})
	g.reconciler = &late
	g.pass("one")
	if diff := cmp.Diff([]string{"a"}, g.protected()); diff != "" {
		t.Errorf("what somebody refers to by now is protected again (-want +got):\n%s", diff)
	}
}
