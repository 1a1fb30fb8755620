// SPDX-License-Identifier: Apache-2.0

// Package shootvpaenabledbydefault gives new Shoots the vertical autoscaler for pods, unless they say that they want
// none (API-VPA-1).
package shootvpaenabledbydefault

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct{ *admission.Handler }

// New makes the rule. It looks at nothing but the Shoot.
func New(*world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create)}
}

var _ admission.MutationInterface = &rule{}

// Admit turns the autoscaler on where the Shoot has workers and says nothing.
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || query.Workerless(&shoot.Spec) || shoot.Spec.Kubernetes.VerticalPodAutoscaler != nil {
		return nil
	}
	shoot.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
	gardencorev1beta1.SetDefaultsShoot(shoot)
	return nil
}
