// SPDX-License-Identifier: Apache-2.0

// Package shootnodelocaldnsenabledbydefault gives the nodes of new Shoots a DNS cache, unless they say that they want
// none (API-NLD-1).
package shootnodelocaldnsenabledbydefault

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

// Admit turns the cache on where the Shoot has workers and says nothing.
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
