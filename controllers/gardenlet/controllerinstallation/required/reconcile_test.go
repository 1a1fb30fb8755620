// SPDX-License-Identifier: Apache-2.0

package required_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation/required"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// network is an extension object of a type.
func network(kind string, changes ...func(*gardenextensionsv1alpha1.Network)) *gardenextensionsv1alpha1.Network {
	n := &gardenextensionsv1alpha1.Network{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a"}}
	n.Spec.Type = kind
	for _, change := range changes {
		change(n)
	}
	return n
}

// newReconciler has an installation "demo-x" of an extension for networks of type "calm", and one of a registration that does
// not exist.
func newReconciler(t *testing.T, inSeed ...client.Object) *required.Reconciler {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	registration := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}
	registration.Spec.Resources = []gardencorev1beta1.ControllerResource{{Kind: "Network", Type: "calm"}, {Kind: "SelfHostedShootExposure", Type: "calm"}}
	installed := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "demo-x"}}
	installed.Spec.RegistrationRef.Name = "demo"
	orphan := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "orphan-x"}}
	orphan.Spec.RegistrationRef.Name = "orphan"
	return &required.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: fake.NewClientBuilder().WithScheme(types).WithObjects(registration, installed, orphan).WithStatusSubresource(installed).Build(),
			Clock:        clocktesting.NewFakeClock(time.Unix(1000, 0)), SeedName: "one",
		},
		SeedReader: fake.NewClientBuilder().WithScheme(types).WithObjects(inSeed...).Build(),
	}
}

func TestRequired(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		seed   []client.Object
		want   string
	}{
		"Used":   {reason: "an object of the kind and type keeps the extension", seed: []client.Object{network("calm")}, want: "True ExtensionObjectsExist"},
		"Unused": {reason: "no object, no need", want: "False NoExtensionObjects"},
		"Other":  {reason: "the type has to be the same", seed: []client.Object{network("stormy")}, want: "False NoExtensionObjects"},
		"Garden": {
			reason: "objects of the garden class belong to another cluster", want: "False NoExtensionObjects",
			seed: []client.Object{network("calm", func(n *gardenextensionsv1alpha1.Network) {
				n.Spec.Class = new(gardenextensionsv1alpha1.ExtensionClassGarden)
			})},
		},
		"Exposure": {
			reason: "exposures of self-hosted shoots keep no extension", want: "False NoExtensionObjects",
			seed: []client.Object{&gardenextensionsv1alpha1.SelfHostedShootExposure{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a"},
				Spec:       gardenextensionsv1alpha1.SelfHostedShootExposureSpec{DefaultSpec: gardenextensionsv1alpha1.DefaultSpec{Type: "calm"}},
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReconciler(t, tc.seed...)
			key := client.ObjectKey{Name: "demo-x"}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			installation := &gardencorev1beta1.ControllerInstallation{}
			if err := r.GardenClient.Get(t.Context(), key, installation); err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, c := range installation.Status.Conditions {
				got[string(c.Type)] = string(c.Status) + " " + c.Reason
			}
			if diff := cmp.Diff(map[string]string{"Required": tc.want}, got); diff != "" {
				t.Errorf("GLET-CI-8: %s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAppearances_GLET_CI_9(t *testing.T) {
	t.Parallel()
	update := func(change func(*gardenextensionsv1alpha1.Network)) bool {
		return required.Appearances().Update(event.TypedUpdateEvent[client.Object]{ObjectOld: network("calm"), ObjectNew: network("calm", change)})
	}
	got := map[string]bool{
		"create": required.Appearances().Create(event.TypedCreateEvent[client.Object]{Object: network("calm")}),
		"delete": required.Appearances().Delete(event.TypedDeleteEvent[client.Object]{Object: network("calm")}),
		"type":   update(func(n *gardenextensionsv1alpha1.Network) { n.Spec.Type = "stormy" }),
		"spec":   update(func(n *gardenextensionsv1alpha1.Network) { n.Spec.PodCIDR = "10.1.0.0/16" }),
		"status": update(func(n *gardenextensionsv1alpha1.Network) { n.Status.ObservedGeneration = 2 }),
	}
	if diff := cmp.Diff(map[string]bool{"create": true, "delete": true, "type": true, "spec": false, "status": false}, got); diff != "" {
		t.Errorf("events that start a pass (-want +got):\n%s", diff)
	}
}

func TestResponsible(t *testing.T) {
	t.Parallel()
	r := newReconciler(t)
	request := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: client.ObjectKey{Name: name}}
	}
	// The registration of orphan-x cannot be read, so that it is always checked.
	want := map[string][]reconcile.Request{"calm": {request("demo-x"), request("orphan-x")}, "stormy": {request("orphan-x")}}
	got := map[string][]reconcile.Request{}
	for kind := range want {
		got[kind] = required.Responsible(t.Context(), r, "Network", network(kind))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("installations to check (-want +got):\n%s", diff)
	}
}

// TestJudgesAfterAllKinds_GLET_CI_8 cannot list the second of two kinds of a registration: although there is no object of the first, the
// extension is not declared unneeded before the second was listed too.
func TestJudgesAfterAllKinds_GLET_CI_8(t *testing.T) {
	t.Parallel()
	r := newReconciler(t)
	registration := &gardencorev1beta1.ControllerRegistration{}
	if err := r.GardenClient.Get(t.Context(), client.ObjectKey{Name: "demo"}, registration); err != nil {
		t.Fatal(err)
	}
	registration.Spec.Resources = []gardencorev1beta1.ControllerResource{{Kind: "Network", Type: "calm"}, {Kind: "Worker", Type: "calm"}}
	if err := r.GardenClient.Update(t.Context(), registration); err != nil {
		t.Fatal(err)
	}
	worker := &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a"}}
	worker.Spec.Type = "calm"
	unlisted := true
	r.SeedReader = fake.NewClientBuilder().WithScheme(r.GardenClient.Scheme()).WithObjects(worker).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*gardenextensionsv1alpha1.WorkerList); ok && unlisted {
				return errors.New("the cache is not filled yet")
			}
			return c.List(ctx, list, options...)
		},
	}).Build()
	// look makes a pass and returns the condition after it.
	look := func() (string, error) {
		key := client.ObjectKey{Name: "demo-x"}
		_, passErr := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
		installation := &gardencorev1beta1.ControllerInstallation{}
		if err := r.GardenClient.Get(t.Context(), key, installation); err != nil {
			t.Fatal(err)
		}
		if len(installation.Status.Conditions) == 0 {
			return "", passErr
		}
		return string(installation.Status.Conditions[0].Status), passErr
	}
	if got, err := look(); err == nil || got != "" {
		t.Errorf("while a kind is not listed: got condition %q, error %v, want no condition and another try", got, err)
	}
	unlisted = false
	if got, err := look(); err != nil || got != "True" {
		t.Errorf("once all kinds are listed: got condition %q, error %v, want True", got, err)
	}
}
