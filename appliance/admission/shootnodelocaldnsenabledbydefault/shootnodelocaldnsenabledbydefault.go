// SPDX-License-Identifier: Apache-2.0

// Package shootnodelocaldnsenabledbydefault enables the DNS cache on nodes of new Shoots that do not disable it (API-NLD-1).
package shootnodelocaldnsenabledbydefault

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

// Admit enables the cache if the Shoot has workers and does not set the field.
func (*rule) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" || query.Workerless(&shoot.Spec) {
		return nil
	}
	if shoot.Spec.SystemComponents == nil {
		shoot.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{}
	}
	if shoot.Spec.SystemComponents.NodeLocalDNS == nil {
		shoot.Spec.SystemComponents.NodeLocalDNS = &gardencorev1beta1.NodeLocalDNS{Enabled: true}
	}
	return nil
}
