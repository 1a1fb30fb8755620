// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// bindingRules are the rules of shoots/binding, the only way to assign another seed to a shoot (API-BIND-1).
func bindingRules() kind.Rules[*gardencorev1beta1.Shoot] {
	r := rules()
	r.PrepareUpdate = func(_ context.Context, obj, old *gardencorev1beta1.Shoot) { clearPending(obj, old) }
	r.SpecChanged = func(obj, old *gardencorev1beta1.Shoot) bool {
		return !check.Same(obj.Spec, old.Spec)
	}
	r.MustGrow = nil
	r.ValidateUpdate = validation.ValidateShootBindingUpdate
	return r
}

// clearPending removes the last operation that says that no seed was found, because one has been found (API-SHOOTSTRAT-8).
func clearPending(obj, old *gardencorev1beta1.Shoot) {
	op := obj.Status.LastOperation
	first := old.Spec.SeedName == nil && obj.Spec.SeedName != nil
	if first && op != nil && op.Type == gardencorev1beta1.LastOperationTypeCreate &&
		op.State == gardencorev1beta1.LastOperationStatePending {
		obj.Status.LastOperation = nil
	}
}
