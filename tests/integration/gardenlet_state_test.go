// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootstate"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const statePlane = "shoot--dev--sprout"

// plantState makes a shoot on seed one whose control plane is whole, and what its seed has of it.
func plantState(o *operator, namespace string, seed client.Client) *gardencorev1beta1.Shoot {
	o.t.Helper()
	s := o.shoot(namespace, "sprout", "local", func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("one") })
	o.change(s, func() { s.Finalizers = append(s.Finalizers, gardencorev1beta1.FinalizerGardener) })
	o.changeStatus(s, func() {
		s.Status.SeedName, s.Status.TechnicalID, s.Status.UID = new("one"), statePlane, s.UID
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: "Succeeded", Progress: 100, LastUpdateTime: metav1.Now()}
	})
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: statePlane, Annotations: map[string]string{"shoot.gardener.cloud/uid": string(s.UID)}}}
	ca := secretIn(statePlane, "ca")
	ca.Labels, ca.Data = map[string]string{"managed-by": "secrets-manager", "persist": "true"}, map[string][]byte{"ca.key": []byte("private")}
	infrastructure := &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: named(statePlane, "sprout")}
	infrastructure.Status.State = &runtime.RawExtension{Raw: []byte(`{"network":null,"note":"<a&b>"}`)}
	infrastructure.Status.Resources = []gardencorev1beta1.NamedResourceReference{secretRef("keys", "ca")}
	for _, object := range []client.Object{home, ca, infrastructure} {
		if err := seed.Create(o.t.Context(), object); err != nil {
			o.t.Fatal(err)
		}
	}
	return s
}

// savingFor is the controller of a gardenlet that has no other rights in the garden than those of its seed.
func savingFor(r *shoot.Reconciler, clk *clocktesting.FakeClock) *shootstate.Reconciler {
	config := &gardenconfigv1alpha1.GardenletConfiguration{}
	config.SetDefaults()
	base := kit.SeedBase{
		GardenClient: r.GardenClient, GardenReader: r.GardenReader, SeedClient: r.SeedClient, Clock: clk, Recorder: r.Recorder, SeedName: r.SeedName,
	}
	return &shootstate.Reconciler{SeedBase: base, Config: config.Controllers.ShootState, Random: func(limit time.Duration) time.Duration { return limit / 2 }}
}

// TestShootState follows the state of a shoot from its first write to the end of the shoot, with the rights of a gardenlet (GLET-STATE-1 to 4, EXT-MIG-3).
func TestShootState(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := *o.project("dev", member("rose", "admin")).Spec.Namespace
	gardenlet, clk := o.gardenletOf(o.seed("one", "local", "north")), clocktesting.NewFakeClock(time.Now())
	o.seed("two", "local", "north")
	s := plantState(o, namespace, gardenlet.SeedClient)
	r := savingFor(gardenlet, clk)
	save := func() *gardencorev1beta1.ShootState {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
			t.Fatal(err)
		}
		state := &gardencorev1beta1.ShootState{ObjectMeta: named(namespace, "sprout")}
		o.read(state)
		return state
	}
	first := save()
	got := []int{len(first.Spec.Gardener), len(first.Spec.Extensions), len(first.Spec.Resources)}
	if diff := cmp.Diff([]int{1, 1, 1}, got); diff != "" {
		t.Fatalf("Secrets, extensions and resources of the state (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(`{"ca.key":"cHJpdmF0ZQ=="}`, string(first.Spec.Gardener[0].Data.Raw)); diff != "" {
		t.Errorf("what is saved of the Secret (-want +got):\n%s", diff)
	}
	clk.Step(7 * time.Hour)
	second := save()
	if second.Generation != first.Generation || second.Annotations["gardener.cloud/timestamp"] == first.Annotations["gardener.cloud/timestamp"] {
		t.Errorf("a state that is as it was is written anew (generation %d, then %d), or its time is not: %v", first.Generation, second.Generation, second.Annotations)
	}
	checkStrangersOfState(o, namespace)

	o.confirm(s)
	o.changeStatus(s, func() {
		s.Status.LastErrors = []gardencorev1beta1.LastError{{
			Description: "in use", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeInfraDependencies}, LastUpdateTime: new(metav1.Now()),
		}}
	})
	clk.Step(7 * time.Hour)
	if again := save(); again.ResourceVersion != second.ResourceVersion {
		t.Error("GLET-STATE-4: a state is written of a shoot in deletion")
	}
	o.change(s, func() { s.Annotations[gardencorev1beta1.AnnotationConfirmationForceDeletion] = "true" })
	o.heartbeat("one")
	o.watching(gardenlet)
	o.gone(s, "the shoot is gone")
	o.absent(&gardencorev1beta1.ShootState{ObjectMeta: named(namespace, "sprout")}, "GLET-STATE-4: the state goes with its shoot")
}

// checkStrangersOfState has those ask for the state who have no business with it: it has all keys of the shoot.
func checkStrangersOfState(o *operator, namespace string) {
	o.t.Helper()
	extension := role{
		"extension", "system:serviceaccount:seed-one:extension-local",
		[]string{"system:serviceaccounts", "system:serviceaccounts:seed-one", "system:authenticated"},
	}
	for _, who := range []role{seedRole("two"), extension, person("rose")} {
		c, state := o.acting(who), &gardencorev1beta1.ShootState{ObjectMeta: named(namespace, "sprout")}
		asks := map[string]error{
			"read":   c.Get(o.t.Context(), client.ObjectKeyFromObject(state), state),
			"list":   c.List(o.t.Context(), &gardencorev1beta1.ShootStateList{}, client.InNamespace(namespace)),
			"change": c.Patch(o.t.Context(), state, client.RawPatch("application/merge-patch+json", []byte(`{"spec":null}`))),
			"make":   c.Create(o.t.Context(), &gardencorev1beta1.ShootState{ObjectMeta: named(namespace, "another")}),
			"delete": c.Delete(o.t.Context(), state),
		}
		for verb, err := range asks {
			if !apierrors.IsForbidden(err) && (verb != "delete" || !apierrors.IsNotFound(err)) {
				o.t.Errorf("%s of a state by %s: got %v, want a refusal", verb, who.name, err)
			}
		}
	}
	o.read(&gardencorev1beta1.ShootState{ObjectMeta: named(namespace, "sprout")})
}
