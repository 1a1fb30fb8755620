// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"

	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const status = "status"

// checkStatus checks what a write to shoots/status sets once and for all. Other parts of a status are the gardenlet's.
func (r *rule) checkStatus(ctx context.Context, a admission.Attributes) error {
	shoot, is := a.GetObject().(*gardencorev1beta1.Shoot)
	old, was := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !is || !was {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error { return v.OwnTechnicalID(ctx, shoot, old) })
}
