// SPDX-License-Identifier: Apache-2.0

package care_test

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

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation/care"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// TestPeriods_GLET_CI_7 has the defaults of the configuration: what is well is looked at every 30 seconds, and what does not exist after one.
func TestPeriods_GLET_CI_7(t *testing.T) {
	t.Parallel()
	found := func(applied gardencorev1beta1.ConditionStatus) *gardenresourcesv1alpha1.ManagedResource {
		mr := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "demo-x"}}
		for kind, status := range map[gardencorev1beta1.ConditionType]gardencorev1beta1.ConditionStatus{
			"ResourcesApplied": applied, "ResourcesHealthy": "True", "ResourcesProgressing": "False",
		} {
			mr.Status.Conditions = append(mr.Status.Conditions, gardencorev1beta1.Condition{Type: kind, Status: status})
		}
		return mr
	}
	well := []string{"Installed True InstallationSuccessful", "Healthy True ControllerHealthy", "Progressing False ControllerRolledOut"}
	for name, tc := range map[string]struct {
		mr     *gardenresourcesv1alpha1.ManagedResource
		change func(*gardencorev1beta1.ControllerInstallation)
		want   []string
		again  time.Duration
	}{
		"Well":     {mr: found("True"), want: well, again: 30 * time.Second},
		"Ill":      {mr: found("False"), want: append([]string{"Installed False InstallationPending"}, well[1:]...), again: 2 * time.Second},
		"Absent":   {want: []string{"Installed Unknown SeedReadError", "Healthy Unknown SeedReadError", "Progressing Unknown SeedReadError"}, again: time.Second},
		"Deletion": {change: inDeletion, want: []string{"Installed True "}},
		"New":      {change: func(i *gardencorev1beta1.ControllerInstallation) { i.Status.Conditions = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			types, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "demo-x"}}
			installation.Spec.SeedRef = &corev1.ObjectReference{Name: "one"}
			installation.Status.Conditions = []gardencorev1beta1.Condition{{Type: gardencorev1beta1.ConditionTypeInstalled, Status: "True"}}
			if tc.change != nil {
				tc.change(installation)
			}
			seed := fake.NewClientBuilder().WithScheme(types)
			if tc.mr != nil {
				seed = seed.WithObjects(tc.mr)
			}
			config := &gardenconfigv1alpha1.GardenletConfiguration{}
			config.SetDefaults()
			garden := fake.NewClientBuilder().WithScheme(types).WithObjects(installation).WithStatusSubresource(installation).Build()
			r := &care.Reconciler{
				SeedBase: kit.SeedBase{GardenClient: garden, SeedClient: seed.Build(), SeedName: "one", Clock: clocktesting.NewFakeClock(time.Unix(1000, 0))},
				Config:   config.Controllers.ControllerInstallationCare,
			}
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(installation)})
			if err != nil || result.RequeueAfter != tc.again {
				t.Errorf("Reconcile(...) = %v, %v, want another look after %s", result, err, tc.again)
			}
			if err := garden.Get(t.Context(), client.ObjectKeyFromObject(installation), installation); err != nil {
				t.Fatal(err)
			}
			states, _ := summary(installation.Status.Conditions)
			if diff := cmp.Diff(tc.want, states); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func inDeletion(installation *gardencorev1beta1.ControllerInstallation) {
	installation.DeletionTimestamp, installation.Finalizers = new(metav1.NewTime(time.Unix(900, 0))), []string{"core.gardener.cloud/controllerinstallation"}
}
