// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateKubeAPIServer checks the settings of an API server for clusters without nodes, in kinds other than Shoot.
func ValidateKubeAPIServer(a *gardencorev1beta1.KubeAPIServerConfig, kubernetes string, path *field.Path) field.ErrorList {
	return kubeAPIServer(a, cluster{version: kubernetes, workerless: true}, path)
}

// ValidateKubeControllerManager checks the settings of a controller manager in kinds other than Shoot.
func ValidateKubeControllerManager(
	m *gardencorev1beta1.KubeControllerManagerConfig, kubernetes string, path *field.Path,
) field.ErrorList {
	return kubeControllerManager(m, cluster{version: kubernetes, workerless: true}, path)
}

// ValidateMaintenance checks the maintenance settings in kinds other than Shoot.
func ValidateMaintenance(m *gardencorev1beta1.Maintenance, path *field.Path) field.ErrorList {
	return maintenance(m, path)
}
