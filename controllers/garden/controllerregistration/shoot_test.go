// SPDX-License-Identifier: Apache-2.0

package controllerregistration_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// garden has objects. Installations are found there by what they refer to, as in the API server.
func garden(t *testing.T, objects ...client.Object) *fake.ClientBuilder {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	field := func(of func(*installation) string) client.IndexerFunc {
		return func(object client.Object) []string {
			if i, ok := object.(*installation); ok {
				return []string{of(i)}
			}
			return nil
		}
	}
	return fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).
		WithIndex(&shoot{}, hosted.Field, func(object client.Object) []string { return hosted.Seeds(object.(*shoot)) }).
		WithIndex(&installation{}, "spec.seedRef.name", field(func(i *installation) string {
			if i.Spec.SeedRef == nil {
				return ""
			}
			return i.Spec.SeedRef.Name
		})).
		WithIndex(&installation{}, "spec.shootRef.name", field(func(i *installation) string {
			if i.Spec.ShootRef == nil {
				return ""
			}
			return i.Spec.ShootRef.Name
		})).
		WithIndex(&installation{}, "spec.shootRef.namespace", field(func(i *installation) string {
			if i.Spec.ShootRef == nil {
				return ""
			}
			return i.Spec.ShootRef.Namespace
		}))
}

// look makes a pass for a shoot, with what the cache of the garden shows.
func look(t *testing.T, cache client.Client, server client.Reader, s *shoot) error {
	t.Helper()
	r := &controllerregistration.ShootReconciler{Base: kit.Base{Client: cache, Reader: server, Recorder: events.NewFakeRecorder(10)}}
	_, err := reconcile.AsReconciler(cache, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)})
	return err
}

// installed lists where the installations are, sorted.
func installed(t *testing.T, c client.Client) []string {
	t.Helper()
	list := &gardenInstallations{}
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range list.Items {
		spec := &list.Items[i].Spec
		where := "nowhere"
		if spec.SeedRef != nil {
			where = spec.SeedRef.Name
		}
		if spec.ShootRef != nil {
			where = spec.ShootRef.Namespace + "/" + spec.ShootRef.Name
		}
		all = append(all, spec.RegistrationRef.Name+" in "+where)
	}
	slices.Sort(all)
	return all
}

// TestOthersStay_GCM_CR_10 has installations of which the shoot needs none: on a seed of its name, in shoots of its name and of its namespace, and one
// of its own.
func TestOthersStay_GCM_CR_10(t *testing.T) {
	t.Parallel()
	at := func(name string, change func(*installation)) client.Object {
		return new(of(name, "dns", change))
	}
	s := lone()
	c := garden(t, s, new(local()), new(offers("dns", "Extension/dns")),
		at("a", func(i *installation) { i.Spec.SeedRef = ref("", "lone") }),
		at("b", func(i *installation) { i.Spec.ShootRef = ref("other", "lone") }),
		at("c", func(i *installation) { i.Spec.ShootRef = ref("garden", "other") }),
		at("d", func(i *installation) { i.Spec.ShootRef = ref("garden", "lone") }),
	).Build()
	if err := look(t, c, c, s); err != nil {
		t.Fatal(err)
	}
	want := []string{"dns in garden/other", "dns in lone", "dns in other/lone", "provider-local in garden/lone"}
	if diff := cmp.Diff(want, installed(t, c)); diff != "" {
		t.Errorf("installations (-want +got):\n%s", diff)
	}
}

// TestOnce_GCM_CR_10 makes two passes before the cache shows what the first one has made.
func TestOnce_GCM_CR_10(t *testing.T) {
	t.Parallel()
	s := lone()
	server := garden(t, s, new(local())).Build()
	stale := interceptor.NewClient(server, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
			if _, is := list.(*gardenInstallations); is {
				return nil
			}
			return c.List(ctx, list, o...)
		},
	})
	for range 2 {
		if err := look(t, stale, server, s); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"provider-local in garden/lone"}, installed(t, server)); diff != "" {
		t.Errorf("installations after two passes (-want +got):\n%s", diff)
	}
}

// TestOnSeedNothing_GCM_CR_10 looks at a shoot on a seed, which an installation names.
func TestOnSeedNothing_GCM_CR_10(t *testing.T) {
	t.Parallel()
	s := lone(func(s *shoot) { s.Spec.Provider.Workers[0].ControlPlane = nil })
	c := garden(t, s, new(local()), new(of("a", "provider-local", func(i *installation) { i.Spec.ShootRef = ref("garden", "lone") }))).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
				t.Error("a shoot on a seed, or its installation, is written")
				return nil
			},
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				t.Error("lists are read for a shoot on a seed")
				return nil
			},
		}).Build()
	if err := look(t, c, c, s); err != nil {
		t.Fatal(err)
	}
}

// TestHeldFirst_GCM_CR_10 has a shoot that is gone while the cache still shows it: nothing may be installed there, as nobody would remove it.
func TestHeldFirst_GCM_CR_10(t *testing.T) {
	t.Parallel()
	s := lone()
	server := garden(t, new(local())).Build()
	cache := interceptor.NewClient(server, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
			if found, is := object.(*shoot); is {
				s.ResourceVersion = "1"
				s.DeepCopyInto(found)
				return nil
			}
			return c.Get(ctx, key, object, o...)
		},
	})
	if err := look(t, cache, server, s); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if got := installed(t, server); len(got) > 0 {
		t.Errorf("installations in a shoot that is gone: %v", got)
	}

	there := garden(t, lone(), new(local())).Build()
	if err := look(t, there, there, s); err != nil {
		t.Fatal(err)
	}
	held := &shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "lone"}}
	if err := there.Get(t.Context(), client.ObjectKeyFromObject(held), held); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"core.gardener.cloud/controllerregistration"}, held.Finalizers); diff != "" {
		t.Errorf("finalizers of a shoot in which something is installed (-want +got):\n%s", diff)
	}
}
