// SPDX-License-Identifier: Apache-2.0

package query

import gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"

// ForAllSeeds reports whether a Secret of the namespace garden with these labels is copied into the namespace of every seed,
// which depends on its role. Secrets that belong to shoots in that namespace are not copied: they are keys and passwords of
// the clusters that managed seeds run on (GCM-SEED-2).
func ForAllSeeds(labels map[string]string) bool {
	role, ok := labels[gardencorev1beta1.LabelRole]
	if !ok {
		return false
	}
	switch role {
	case gardencorev1beta1.RoleControlPlaneCert, gardencorev1beta1.RoleHelmPullSecret, gardencorev1beta1.RoleOCICABundle,
		gardencorev1beta1.RoleResourceReference:
		return false
	default:
		return !OfShoot(role)
	}
}

// OfShoot reports whether objects with this role belong to a shoot and are kept in its project namespace.
func OfShoot(role string) bool {
	switch role {
	case gardencorev1beta1.RoleCACluster, gardencorev1beta1.RoleCAClient, gardencorev1beta1.RoleCAKubelet,
		gardencorev1beta1.RoleKubeconfig, gardencorev1beta1.RoleMonitoring, gardencorev1beta1.RoleSSHKeypair:
		return true
	default:
		return false
	}
}
