// SPDX-License-Identifier: Apache-2.0

package managedseed

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/seedmanagement/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type managedSeed = gardenseedmanagementv1alpha1.ManagedSeed

func rules(turn kind.Turn) kind.Rules[*managedSeed] {
	return kind.Rules[*managedSeed]{
		Names: kind.Names{
			GroupVersion: gardenseedmanagementv1alpha1.GroupVersion,
			Plural:       "managedseeds",
			Singular:     "managedseed",
			ShortNames:   []string{"ms"},
		},
		Turn:           turn,
		New:            func() *managedSeed { return &managedSeed{} },
		NewList:        func() runtime.Object { return &gardenseedmanagementv1alpha1.ManagedSeedList{} },
		Namespaced:     true,
		Generation:     true,
		SpecChanged:    func(obj, old *managedSeed) bool { return !check.Same(obj.Spec, old.Spec) },
		MustGrow:       operation,
		Validate:       validation.ValidateManagedSeed,
		ValidateUpdate: validation.ValidateManagedSeedUpdate,
		Fields:         selectable,
		Indexes:        []string{gardenseedmanagementv1alpha1.FieldManagedSeedShootName},
		Columns: []kind.Column[*managedSeed]{
			{Name: "Status", Cell: registration},
			{Name: "Shoot", Cell: shoot},
		},
		Status: &kind.StatusRules[*managedSeed]{
			Reset:    func(obj, old *managedSeed) { obj.Status = old.Status },
			KeepSpec: func(obj, old *managedSeed) { obj.Spec = old.Spec },
		},
	}
}

// operation increases the generation for operation annotations. The gardenlet removes the one that requests a new kubeconfig
// (API-STRAT-4).
func operation(obj, old *managedSeed) bool {
	const annotation = gardencorev1beta1.AnnotationOperation
	switch asked := obj.Annotations[annotation]; asked {
	case gardencorev1beta1.OperationReconcile:
		delete(obj.Annotations, annotation)
		return true
	case gardencorev1beta1.OperationRenewKubeconfig:
		return old.Annotations[annotation] != asked
	default:
		return false
	}
}

func shoot(o *managedSeed) string {
	if o.Spec.Shoot == nil {
		return ""
	}
	return o.Spec.Shoot.Name
}

func selectable(o *managedSeed) fields.Set {
	return fields.Set{gardenseedmanagementv1alpha1.FieldManagedSeedShootName: shoot(o)}
}

// registration returns the status of the seed's registration for the table.
func registration(o *managedSeed) string {
	for _, c := range o.Status.Conditions {
		if c.Type != gardenseedmanagementv1alpha1.ConditionTypeSeedRegistered || c.Status == gardencorev1beta1.ConditionUnknown {
			continue
		}
		if c.Status == gardencorev1beta1.ConditionTrue {
			return "Registered"
		}
		return "NotRegistered"
	}
	return "Unknown"
}
