// SPDX-License-Identifier: Apache-2.0

package reference_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/reference"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestDeletion_GCM_SHOOTREF_3_4 has shoots in deletion that refer to Secret a.
func TestDeletion_GCM_SHOOTREF_3_4(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason     string
		finalizers []string
		protected  bool
		want       []string
		stays      []string
	}{
		"new":   {reason: "nothing is newly protected for what goes", finalizers: []string{"gardener"}, stays: []string{"gardener"}},
		"busy":  {reason: "its gardenlet still needs the Secret", finalizers: []string{"gardener", protection}, protected: true, want: []string{"a"}, stays: []string{"gardener", protection}},
		"ended": {reason: "its gardenlet is done", finalizers: []string{"other", protection}, protected: true, stays: []string{"other"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shoot, named := shooting("one", "a"), secret("a")
			shoot.DeletionTimestamp, shoot.Finalizers = new(metav1.Now()), tc.finalizers
			if tc.protected {
				named.Finalizers = []string{protection}
			}
			g := start(t, shoot, named)
			g.pass("one")
			if diff := cmp.Diff(tc.want, g.protected()); diff != "" {
				t.Errorf("%s\nwhat is protected (-want +got):\n%s", tc.reason, diff)
			}
			if err := g.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.stays, shoot.Finalizers); diff != "" {
				t.Errorf("%s\nfinalizers of the shoot (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestKinds_GCM_SHOOTREF_2 refers to a ConfigMap and to a Secret of its name, of which one is not there.
func TestKinds_GCM_SHOOTREF_2(t *testing.T) {
	t.Parallel()
	shoot, config := shooting("one", "absent"), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "a"}}
	shoot.Spec.Resources = append(shoot.Spec.Resources, referencing("ConfigMap", "a").Spec.Resources...)
	g := start(t, shoot, config, secret("a"))
	g.pass("one")
	if err := g.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil || !slices.Contains(config.Finalizers, protection) {
		t.Errorf("the ConfigMap has finalizers %v, %v, want the protection", config.Finalizers, err)
	}
	if got := g.protected(); len(got) > 0 {
		t.Errorf("Secrets %v are protected, want none", got)
	}
}

// TestComesLater_GCM_SHOOTREF_1 refers to a Secret that is made after the shoot, and once more after it has been deleted.
func TestComesLater_GCM_SHOOTREF_1(t *testing.T) {
	t.Parallel()
	going := secret("a")
	going.DeletionTimestamp, going.Finalizers = new(metav1.Now()), []string{"other"}
	g := start(t, shooting("one", "a"), going)
	pass := func(reason string, again time.Duration, protected ...string) {
		t.Helper()
		result, err := g.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: home, Name: "one"}})
		if err != nil || result.RequeueAfter != again {
			t.Errorf("%s\nReconcile(...) = %v, %v, want another pass after %s", reason, result, err, again)
		}
		if diff := cmp.Diff(protected, g.protected()); diff != "" {
			t.Errorf("%s\nwhat is protected (-want +got):\n%s", reason, diff)
		}
	}
	pass("one in deletion is not protected, and may be made again", 10*time.Second)
	going.Finalizers = nil
	if err := g.Update(t.Context(), going); err != nil {
		t.Fatal(err)
	}
	pass("one that is not there may be made", 10*time.Second)
	if err := g.Create(t.Context(), secret("a")); err != nil {
		t.Fatal(err)
	}
	pass("it is protected when it is there", 5*time.Second, "a")
	pass("then nothing is left to do", 0, "a")
}

// TestSeeds_GCM_SEEDREF_1 has a seed, which has no namespace, and refers to what is in that of the garden.
func TestSeeds_GCM_SEEDREF_1(t *testing.T) {
	t.Parallel()
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu"}}
	seed.Spec.Resources = shooting("", "a").Spec.Resources
	given, namesake := secret("a"), secret("a")
	given.Namespace = "garden"
	g := start(t, seed, given, namesake)
	g.reconciler.Holder = reference.Seeds()
	for range 2 {
		if _, err := g.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(seed)}); err != nil {
			t.Fatal(err)
		}
	}
	for object, want := range map[*corev1.Secret]bool{given: true, namesake: false} {
		if err := g.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil || slices.Contains(object.Finalizers, protection) != want {
			t.Errorf("the Secret in %s has finalizers %v, %v", object.Namespace, object.Finalizers, err)
		}
	}
}

// TestFailures_GCM_SHOOTREF_1_3 has one read or write fail while a shoot that has referred to Secret a refers to Secret b. What is not known is not
// released, and the next pass makes up for what was not done.
func TestFailures_GCM_SHOOTREF_1_3(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	for name, tc := range map[string]struct {
		reason string
		// fails is what fails, live that it does so around the cache, and after how often it has gone well before.
		fails string
		live  bool
		after int
		// left are the Secrets that may be left protected.
		left []string
	}{
		"Shoot":      {reason: "the shoot may be there", fails: "get one", left: []string{"a"}},
		"Named":      {reason: "the Secret may be there", fails: "get b", live: true, left: []string{"a"}},
		"Hold":       {reason: "it is not protected", fails: "patch b", left: []string{"a"}},
		"Seem":       {reason: "there may be something to release", fails: "list *v1.PartialObjectMetadataList", left: []string{"a", "b"}},
		"SeemNeeded": {reason: "whether it is needed is not known", fails: "list *v1beta1.ShootList", left: []string{"a", "b"}},
		"Idle":       {reason: "nor is what is protected", fails: "list *v1.PartialObjectMetadataList", live: true, left: []string{"a", "b"}},
		"Needed":     {reason: "nor who needs it", fails: "list *v1beta1.ShootList", live: true, left: []string{"a", "b"}},
		"Free":       {reason: "it is still protected", fails: "patch a", left: []string{"a", "b"}},
		"Again":      {reason: "somebody may have come", fails: "list *v1beta1.ShootList", live: true, after: 1, left: []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := start(t, shooting("one", "a"), secret("a"), secret("b"))
			g.pass("one")
			g.refer("b")
			seen := 0
			less := func(live bool) client.Client {
				broken := func(what string) error {
					if what != tc.fails || live != tc.live {
						return nil
					}
					if seen++; seen != tc.after+1 {
						return nil
					}
					return errBoom
				}
				return interceptor.NewClient(g.WithWatch, interceptor.Funcs{
					Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
						if err := broken("get " + key.Name); err != nil {
							return err
						}
						return c.Get(ctx, key, o, options...)
					},
					List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
						if err := broken(fmt.Sprintf("list %T", list)); err != nil {
							return err
						}
						return c.List(ctx, list, options...)
					},
					Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
						if err := broken("patch " + o.GetName()); err != nil {
							return err
						}
						return c.Patch(ctx, o, patch, options...)
					},
				})
			}
			r := &reference.Reconciler{Base: kit.Base{Client: less(false), Reader: less(true)}, Holder: reference.Shoots()}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: home, Name: "one"}}); !errors.Is(err, errBoom) {
				t.Errorf("%s\nReconcile(...) = %v, want %v", tc.reason, err, errBoom)
			}
			if diff := cmp.Diff(tc.left, g.protected()); diff != "" {
				t.Errorf("%s\nwhat is protected (-want +got):\n%s", tc.reason, diff)
			}
			g.pass("one")
			if diff := cmp.Diff([]string{"b"}, g.protected()); diff != "" {
				t.Errorf("%s\nwhat is protected after the next pass (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
