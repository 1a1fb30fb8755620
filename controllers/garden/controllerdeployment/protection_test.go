// SPDX-License-Identifier: Apache-2.0

package controllerdeployment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerdeployment"
)

func TestUsers(t *testing.T) {
	t.Parallel()
	registration := func(name string, deployments ...string) gardencorev1beta1.ControllerRegistration {
		r := gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: name}}
		for _, deployment := range deployments {
			if r.Spec.Deployment == nil {
				r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{}
			}
			r.Spec.Deployment.DeploymentRefs = append(r.Spec.Deployment.DeploymentRefs, gardencorev1beta1.DeploymentRef{Name: deployment})
		}
		return r
	}
	got := controllerdeployment.Users("local", []gardencorev1beta1.ControllerRegistration{
		registration("a", "other", "local"), registration("b", "other"), registration("c"),
	})
	if diff := cmp.Diff([]string{"ControllerRegistration a"}, got); diff != "" {
		t.Errorf("GCM-CONTROLLERDEPLOYMENT-1: any of the references counts (-want +got):\n%s", diff)
	}
}
