// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// seedChanges lets changes of spec, labels and deletion timestamp through.
func seedChanges() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
				(e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil) ||
				!maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels())
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// installationChanges lets deletions through, and those that are required no longer, or again.
func installationChanges() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*gardencorev1beta1.ControllerInstallation)
			if !ok {
				return false
			}
			after, ok := e.ObjectNew.(*gardencorev1beta1.ControllerInstallation)
			return ok && !equality.Semantic.DeepEqual(requiredOf(before), requiredOf(after))
		},
	}
}

func requiredOf(installation *gardencorev1beta1.ControllerInstallation) *gardencorev1beta1.Condition {
	return kit.FindCondition(installation.Status.Conditions, gardencorev1beta1.ConditionTypeRequired)
}

// shootChanges lets changes of the seed and of everything that names an extension through.
func shootChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*gardencorev1beta1.Shoot)
		if !ok {
			return false
		}
		after, ok := e.ObjectNew.(*gardencorev1beta1.Shoot)
		return ok && !equality.Semantic.DeepEqual(needsOf(before), needsOf(after))
	}}
}

func needsOf(shoot *gardencorev1beta1.Shoot) []any {
	return []any{
		shoot.Spec.SeedName, shoot.Status.SeedName, shoot.Spec.Provider.Type, shoot.Spec.Provider.Workers,
		shoot.Spec.Extensions, shoot.Spec.DNS, shoot.Spec.Networking,
	}
}
