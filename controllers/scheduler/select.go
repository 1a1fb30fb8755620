// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Wants tells whether the shoot waits for this scheduler (SCHED-SEL-1, SCHED-SEL-2, SCHED-PROC-4): no seed, not being
// deleted, no other scheduler named, and not running its own control plane.
func Wants(shoot *gardencorev1beta1.Shoot) bool {
	if shoot.Spec.SeedName != nil || shoot.DeletionTimestamp != nil {
		return false
	}
	if name := shoot.Spec.SchedulerName; name != nil && *name != "" && *name != gardencorev1beta1.DefaultSchedulerName {
		return false
	}
	for i := range shoot.Spec.Provider.Workers {
		if shoot.Spec.Provider.Workers[i].ControlPlane != nil {
			return false
		}
	}
	return true
}

// profileName returns the name of the shoot's CloudProfile.
func profileName(shoot *gardencorev1beta1.Shoot) (string, error) {
	if ref := shoot.Spec.CloudProfile; ref != nil {
		if ref.Kind != "" && ref.Kind != gardencorev1beta1.CloudProfileReferenceKindCloudProfile {
			return "", fmt.Errorf("cloud profile %q is of kind %q, which this garden does not serve: use a %s", ref.Name, ref.Kind, gardencorev1beta1.CloudProfileReferenceKindCloudProfile)
		}
		return ref.Name, nil
	}
	if name := shoot.Spec.CloudProfileName; name != nil {
		return *name, nil
	}
	return "", fmt.Errorf("shoot %q names no cloud profile: set spec.cloudProfile", shoot.Name)
}
