// SPDX-License-Identifier: Apache-2.0

// Package finalizerremoval keeps the garden's finalizer on a Shoot until everything of it is gone (API-SVAL-10).
package finalizerremoval

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const complete = 100

type rule struct{ *admission.Handler }

// New makes the rule. It needs nothing of the garden but the object itself.
func New(*world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Update)}
}

var _ admission.ValidationInterface = &rule{}

// Validate refuses to release a shoot of which something may be left.
func (*rule) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() != "" {
		return nil
	}
	old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
	if !ok || !held(old) || held(shoot) || released(old) {
		return nil
	}
	return admission.NewForbidden(a, errors.New(
		"the finalizer \"gardener\" is removed by the gardenlet once everything of the shoot is gone from its seed"))
}

func held(s *gardencorev1beta1.Shoot) bool {
	return slices.Contains(s.Finalizers, gardencorev1beta1.FinalizerGardener)
}

// released tells that nothing was ever made or that all of it was deleted.
func released(s *gardencorev1beta1.Shoot) bool {
	op := s.Status.LastOperation
	if s.Status.TechnicalID == "" || op == nil {
		return true
	}
	return op.Type == gardencorev1beta1.LastOperationTypeDelete &&
		op.State == gardencorev1beta1.LastOperationStateSucceeded && op.Progress == complete
}
