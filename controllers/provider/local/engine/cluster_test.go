// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

func seedWith(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build()
}

func clusterObject(shoot, seed string) *gardenextensionsv1alpha1.Cluster {
	c := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--sprout"}}
	c.Spec.Shoot.Raw = []byte(shoot)
	c.Spec.CloudProfile.Raw = []byte(`{"metadata":{"name":"local"}}`)
	if seed != "" {
		c.Spec.Seed = &runtime.RawExtension{Raw: []byte(seed)}
	}
	return c
}

func TestReadCluster(t *testing.T) {
	t.Parallel()
	const name = "shoot--dev--sprout"
	got, err := engine.ReadCluster(t.Context(), seedWith(t, clusterObject(`{"metadata":{"name":"sprout"},"notYetKnown":1}`, `{"spec":{"networks":{"pods":"10.98.0.0/16"}}}`)), name)
	if err != nil {
		t.Fatal(err)
	}
	want := &engine.Cluster{Namespace: name, Shoot: &gardencorev1beta1.Shoot{}, CloudProfile: &gardencorev1beta1.CloudProfile{}, Seed: &gardencorev1beta1.Seed{}}
	want.Shoot.Name, want.CloudProfile.Name, want.Seed.Spec.Networks.Pods = "sprout", "local", "10.98.0.0/16"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadCluster(...) (-want +got):\n%s", diff)
	}
	if got, err := engine.ReadCluster(t.Context(), seedWith(t, clusterObject(`{}`, "")), name); err != nil || got.Seed != nil {
		t.Errorf("ReadCluster(...) = %+v, %v for a cluster without a seed", got, err)
	}
	if got, err := engine.ReadCluster(t.Context(), seedWith(t), name); err != nil || got != nil {
		t.Errorf("ReadCluster(...) = %+v, %v for a namespace without a cluster, want nil", got, err)
	}
	if _, err := engine.ReadCluster(t.Context(), seedWith(t, clusterObject(`{"spec":1}`, "")), name); err == nil || !strings.Contains(err.Error(), `shoot of cluster "shoot--dev--sprout"`) {
		t.Errorf("ReadCluster(...) = %v for a broken shoot, want an error that names it", err)
	}
}

func TestClusterState(t *testing.T) {
	t.Parallel()
	deletedShoot := metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now()), Annotations: map[string]string{"confirmation.gardener.cloud/force-deletion": "true"}}
	asleep := gardencorev1beta1.ShootSpec{Hibernation: &gardencorev1beta1.Hibernation{Enabled: new(true)}}
	operation := func(state gardencorev1beta1.LastOperationState) gardencorev1beta1.ShootStatus {
		return gardencorev1beta1.ShootStatus{LastOperation: &gardencorev1beta1.LastOperation{State: state}}
	}
	type state struct{ Failed, Hibernated, ForceDeleted bool }
	cases := map[string]struct {
		reason string
		shoot  gardencorev1beta1.Shoot
		want   state
	}{
		"Plain":           {reason: "nothing is special about a plain shoot"},
		"Failed":          {reason: "a failed shoot waits for its owner", shoot: gardencorev1beta1.Shoot{Status: operation("Failed")}, want: state{Failed: true}},
		"Error":           {reason: "an error is tried again", shoot: gardencorev1beta1.Shoot{Status: operation("Error")}},
		"Asleep":          {reason: "a sleeping shoot has no machines", shoot: gardencorev1beta1.Shoot{Spec: asleep}, want: state{Hibernated: true}},
		"DeletedAsleep":   {reason: "a shoot in deletion is never switched off", shoot: gardencorev1beta1.Shoot{ObjectMeta: deletedShoot, Spec: asleep}, want: state{ForceDeleted: true}},
		"OnlyAnnotations": {reason: "force without deletion means nothing", shoot: gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Annotations: deletedShoot.Annotations}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &engine.Cluster{Shoot: &tc.shoot}
			got := state{Failed: c.Failed(), Hibernated: c.Hibernated(), ForceDeleted: c.ForceDeleted()}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nstate (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	err := fmt.Errorf("outside: %w", engine.ConfigurationProblem(errBoom))
	if diff := cmp.Diff([]gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}, operation.Codes(err)); diff != "" {
		t.Errorf("Codes(...) (-want +got):\n%s", diff)
	}
	if !errors.Is(err, errBoom) || err.Error() != "outside: boom" {
		t.Errorf("the error became %q", err)
	}
	if engine.ConfigurationProblem(nil) != nil || operation.Codes(errBoom) != nil {
		t.Error("no error has codes, and a plain one has none")
	}
}
