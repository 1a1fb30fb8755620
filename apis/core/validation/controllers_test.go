// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func TestValidateExtensions(t *testing.T) {
	t.Parallel()
	registration := func(change func(*gardencorev1beta1.ControllerRegistration)) *gardencorev1beta1.ControllerRegistration {
		r := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "x", ResourceVersion: "1"}}
		r.Spec.Resources = []gardencorev1beta1.ControllerResource{{Kind: "Extension", Type: "a"}}
		change(r)
		return r
	}
	none := func(*gardencorev1beta1.ControllerRegistration) {}
	installation := func(seed string) *gardencorev1beta1.ControllerInstallation {
		i := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "x", ResourceVersion: "1"}}
		i.Spec.RegistrationRef.Name = "x"
		i.Spec.SeedRef = &corev1.ObjectReference{Name: seed}
		return i
	}
	onShoot := func(name string) *gardencorev1beta1.ControllerInstallation {
		i := installation("")
		i.Spec.SeedRef, i.Spec.ShootRef = nil, &corev1.ObjectReference{Namespace: "garden", Name: name}
		return i
	}
	if diff := cmp.Diff([]string{"spec.deployment.deploymentRefs: FieldValueForbidden", "spec.deployment.policy: FieldValueNotSupported", "spec.resources[0].autoEnable[0]: FieldValueForbidden", "spec.resources[0].clusterCompatibility[1]: FieldValueNotSupported", "spec.resources[0].lifecycle.delete: FieldValueNotSupported", "spec.resources[0].reconcileTimeout: FieldValueInvalid"}, checktest.Complaints(validation.ValidateControllerRegistration(registration(func(r *gardencorev1beta1.ControllerRegistration) {
		res := &r.Spec.Resources[0]
		res.ClusterCompatibility = []gardencorev1beta1.ClusterType{"shoot", "moon"}
		res.AutoEnable = []gardencorev1beta1.ClusterType{"seed"}
		res.Lifecycle = &gardencorev1beta1.ControllerResourceLifecycle{Delete: new(gardencorev1beta1.ControllerResourceLifecycleStrategyAfterWorker)}
		res.ReconcileTimeout = &metav1.Duration{Duration: -1}
		r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{
			Policy: new(gardencorev1beta1.ControllerDeploymentPolicy("Sometimes")), DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "a"}, {Name: "b"}},
		}
	})))); diff != "" {
		t.Errorf("API-VALCR-1: what an extension does is known\nValidateControllerRegistration(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spec.resources[0].primary: FieldValueInvalid"}, checktest.Complaints(validation.ValidateControllerRegistrationUpdate(registration(func(r *gardencorev1beta1.ControllerRegistration) {
		r.Spec.Resources[0].Primary = new(false)
	}), registration(none)))); diff != "" {
		t.Errorf("API-VALCR-1: who is in charge stays in charge\nValidateControllerRegistrationUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spec: FieldValueForbidden"}, checktest.Complaints(validation.ValidateControllerRegistrationUpdate(registration(func(r *gardencorev1beta1.ControllerRegistration) {
		r.DeletionTimestamp = past()
		r.Spec.Resources[0].Type = "b"
	}), registration(func(r *gardencorev1beta1.ControllerRegistration) { r.DeletionTimestamp = past() })))); diff != "" {
		t.Errorf("API-VALCR-1: what goes away does not change\nValidateControllerRegistrationUpdate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"spec.seedRef.name: FieldValueInvalid"}, checktest.Complaints(validation.ValidateControllerInstallationUpdate(installation("b"), installation("a")))); diff != "" {
		t.Errorf("API-VALCI-1: an installation stays where it is\nValidateControllerInstallationUpdate(...) (-want +got):\n%s", diff)
	}
	for what, moved := range map[string][2]*gardencorev1beta1.ControllerInstallation{
		"from a seed to a shoot": {installation("a"), onShoot("s")}, "from a shoot to a seed": {onShoot("s"), installation("a")},
	} {
		want := []string{"spec.seedRef: FieldValueInvalid", "spec.shootRef: FieldValueInvalid"}
		if diff := cmp.Diff(want, checktest.Complaints(validation.ValidateControllerInstallationUpdate(moved[1], moved[0]))); diff != "" {
			t.Errorf("API-VALCI-1: an installation does not move %s\nValidateControllerInstallationUpdate(...) (-want +got):\n%s", what, diff)
		}
	}
	if diff := cmp.Diff([]string{"spec.shootRef.name: FieldValueInvalid"}, checktest.Complaints(validation.ValidateControllerInstallationUpdate(onShoot("b"), onShoot("a")))); diff != "" {
		t.Errorf("API-VALCI-1: one on a shoot stays there\nValidateControllerInstallationUpdate(...) (-want +got):\n%s", diff)
	}
	both := installation("a")
	both.Spec.ShootRef = &corev1.ObjectReference{Namespace: "garden", Name: "s"}
	if diff := cmp.Diff([]string{"spec.shootRef: FieldValueForbidden"}, checktest.Complaints(validation.ValidateControllerInstallation(both))); diff != "" {
		t.Errorf("API-VALCI-1: it is in one place\nValidateControllerInstallation(...) (-want +got):\n%s", diff)
	}
}
