// SPDX-License-Identifier: Apache-2.0

package controllerdeployment

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardencorev1beta1.ControllerDeployment] {
	return kind.Rules[*gardencorev1beta1.ControllerDeployment]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "controllerdeployments",
			Singular:     "controllerdeployment",
			ShortNames:   []string{"ctrldeploy"},
			Categories:   []string{"all"},
		},
		New:        func() *gardencorev1beta1.ControllerDeployment { return &gardencorev1beta1.ControllerDeployment{} },
		NewList:    func() runtime.Object { return &gardencorev1beta1.ControllerDeploymentList{} },
		Generation: true,
		SpecChanged: func(obj, old *gardencorev1beta1.ControllerDeployment) bool {
			return obj.Type != old.Type || !equality.Semantic.DeepEqual(obj.ProviderConfig, old.ProviderConfig)
		},
		Validate:       validation.ValidateControllerDeployment,
		ValidateUpdate: validation.ValidateControllerDeploymentUpdate,
	}
}
