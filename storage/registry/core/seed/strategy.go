// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardencorev1beta1.Seed] {
	return kind.Rules[*gardencorev1beta1.Seed]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "seeds",
			Singular:     "seed",
		},
		New:           func() *gardencorev1beta1.Seed { return &gardencorev1beta1.Seed{} },
		NewList:       func() runtime.Object { return &gardencorev1beta1.SeedList{} },
		Unconditional: true,
		Generation:    true,
		SpecChanged: func(obj, old *gardencorev1beta1.Seed) bool {
			return !check.Same(obj.Spec, old.Spec)
		},
		MustGrow:       operation,
		Canonicalize:   mirrorLabels,
		Validate:       validation.ValidateSeed,
		ValidateUpdate: validation.ValidateSeedUpdate,
		Columns:        columns(),
		Status:         status(),
	}
}

// operation increases the generation for operation annotations. Validation rejects an operation that replaces another one
// (API-STRAT-6).
func operation(obj, old *gardencorev1beta1.Seed) bool {
	asked, pending := obj.Annotations[gardencorev1beta1.AnnotationOperation], old.Annotations[gardencorev1beta1.AnnotationOperation]
	if pending != "" && pending != gardencorev1beta1.OperationReconcile {
		return false
	}
	switch asked {
	case gardencorev1beta1.OperationReconcile:
		delete(obj.Annotations, gardencorev1beta1.AnnotationOperation)
		return true
	case gardencorev1beta1.OperationRenewGardenAccessSecrets, gardencorev1beta1.OperationRenewKubeconfig,
		gardencorev1beta1.OperationRenewWorkloadIdentityTokens:
		return true
	default:
		return false
	}
}

// mirrorLabels sets the labels with the provider and the region (API-STRAT-9).
func mirrorLabels(s *gardencorev1beta1.Seed) {
	if s.Labels == nil {
		s.Labels = map[string]string{}
	}
	s.Labels[gardencorev1beta1.LabelSeedProvider] = s.Spec.Provider.Type
	s.Labels[gardencorev1beta1.LabelSeedRegion] = s.Spec.Provider.Region
}

func status() *kind.StatusRules[*gardencorev1beta1.Seed] {
	return &kind.StatusRules[*gardencorev1beta1.Seed]{
		Reset:    func(obj, old *gardencorev1beta1.Seed) { obj.Status = old.Status },
		KeepSpec: func(obj, old *gardencorev1beta1.Seed) { obj.Spec = old.Spec },
		Validate: validation.ValidateSeedStatusUpdate,
	}
}
