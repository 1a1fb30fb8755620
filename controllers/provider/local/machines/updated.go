// SPDX-License-Identifier: Apache-2.0

package machines

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

// Wanted is the state to which a machine is to be updated in place; it is empty if the machine is never updated.
func Wanted(m *gardenmachinev1alpha1.Machine) string {
	return m.Spec.NodeTemplate.Annotations[gardenmachinev1alpha1.AnnotationInPlaceWanted]
}

// UpdatedTo reports whether a machine has been updated in place to a state, and is done with it.
func UpdatedTo(m *gardenmachinev1alpha1.Machine, hash string) bool {
	return m.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied] == hash && m.Labels[gardenmachinev1alpha1.LabelNodeSelectedForUpdate] == ""
}

// Outdated reports whether a machine is known to be in another state than it is to be updated to in place. One that has just been made may
// have said nothing yet.
func Outdated(m *gardenmachinev1alpha1.Machine) bool {
	applied, wanted := m.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied], Wanted(m)
	return wanted != "" && applied != "" && applied != wanted
}

// manual reports whether the owner of the shoot selects the machines to update.
func manual(m *gardenmachinev1alpha1.Machine) bool {
	return m.Spec.NodeTemplate.Annotations[gardenmachinev1alpha1.AnnotationInPlaceStrategy] == string(gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate)
}
