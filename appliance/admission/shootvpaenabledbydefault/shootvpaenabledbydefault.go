// SPDX-License-Identifier: Apache-2.0

// Package shootvpaenabledbydefault enables the vertical pod autoscaler in new Shoots that do not disable it (API-VPA-1).
package shootvpaenabledbydefault

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct{ *admission.Handler }

// New returns the plugin. It uses only the Shoot.
func New(*world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create)}
}

var _ admission.MutationInterface = &rule{}

// Admit enables the autoscaler if the Shoot has workers and does not set the field.
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || query.Workerless(&shoot.Spec) || shoot.Spec.Kubernetes.VerticalPodAutoscaler != nil {
		return nil
	}
	shoot.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
	gardencorev1beta1.SetDefaultsShoot(shoot)
	return nil
}
