// SPDX-License-Identifier: Apache-2.0

package controllerdeployment

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardencorev1.ControllerDeployment] {
	return kind.Rules[*gardencorev1.ControllerDeployment]{
		Names: kind.Names{
			GroupVersion: gardencorev1.GroupVersion,
			Plural:       "controllerdeployments",
			Singular:     "controllerdeployment",
			ShortNames:   []string{"ctrldeploy"},
			Categories:   []string{"all"},
		},
		New:            func() *gardencorev1.ControllerDeployment { return &gardencorev1.ControllerDeployment{} },
		NewList:        func() runtime.Object { return &gardencorev1.ControllerDeploymentList{} },
		Generation:     true,
		SpecChanged:    changed,
		Validate:       validation.ValidateControllerDeployment,
		ValidateUpdate: validation.ValidateControllerDeploymentUpdate,
	}
}

// changed reports whether what is installed has changed, for all types of deployments. InjectGardenKubeconfig is ignored.
func changed(obj, old *gardencorev1.ControllerDeployment) bool {
	for _, key := range []string{
		gardencorev1beta1.AnnotationMigrationControllerDeploymentType,
		gardencorev1beta1.AnnotationMigrationControllerDeploymentProviderConfig,
	} {
		if obj.Annotations[key] != old.Annotations[key] {
			return true
		}
	}
	return !check.Same(obj.Helm, old.Helm) || !check.Same(obj.Resources, old.Resources)
}
