// SPDX-License-Identifier: Apache-2.0

package controllerinstallation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestWaitsForTheIdentity_GLET_CI_4 installs nothing while the identity of the seed's cluster is not known, and looks again soon. Once
// it is known the same installation goes on.
func TestWaitsForTheIdentity_GLET_CI_4(t *testing.T) {
	t.Parallel()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "demo-x"}}
	installation.Spec.RegistrationRef.Name = "demo"
	installation.Spec.SeedRef = &corev1.ObjectReference{Name: "one"}
	installation.Spec.DeploymentRef = &corev1.ObjectReference{Name: "demo"}
	garden := fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(installation, seed).WithObjects(
		seed, installation, deployment(gardencorev1.HelmControllerDeployment{}), &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "demo"}},
	).Build()
	r := &controllerinstallation.Reconciler{SeedBase: kit.SeedBase{
		GardenClient: garden, GardenReader: garden, SeedClient: fake.NewClientBuilder().WithScheme(types).Build(),
		Clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), SeedName: "one",
	}}
	// look makes a pass, and returns the conditions after it.
	look := func() (reconcile.Result, map[string]string, error) {
		result, passErr := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(installation)})
		if err := garden.Get(t.Context(), client.ObjectKeyFromObject(installation), installation); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, c := range installation.Status.Conditions {
			got[string(c.Type)] = string(c.Status) + " " + c.Reason
		}

		return result, got, passErr
	}

	for range 2 {
		result, got, err := look()
		if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > 10*time.Second {
			t.Errorf("Reconcile(...) without an identity: got %v, %v, want another look soon", result, err)
		}
		if diff := cmp.Diff(map[string]string{}, got); diff != "" {
			t.Errorf("conditions while nothing is known yet (-want +got):\n%s", diff)
		}
	}
	if err := garden.Get(t.Context(), client.ObjectKeyFromObject(seed), seed); err != nil {
		t.Fatal(err)
	}
	seed.Status.ClusterIdentity = new("seed-one")
	if err := garden.Status().Update(t.Context(), seed); err != nil {
		t.Fatal(err)
	}
	// The chart is looked at next, and this deployment has none.
	if _, got, err := look(); err == nil || got["Valid"] != "False ChartInformationInvalid" {
		t.Errorf("Reconcile(...) with an identity: got %v and conditions %v, want that the chart is missing", err, got)
	}
}
