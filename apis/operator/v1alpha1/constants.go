// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// GardenName is the name of the Garden that a server makes of itself.
const GardenName = "garden"

const (
	// FinalizerOperator keeps a Garden until everything that belongs to it is gone.
	FinalizerOperator = "gardener.cloud/operator"

	// OperationRotateWorkloadIdentityKeyStart begins the rotation of the key that signs tokens of workload identities.
	OperationRotateWorkloadIdentityKeyStart = "rotate-workload-identity-key-start"
	// OperationRotateWorkloadIdentityKeyComplete finishes the rotation of the key that signs tokens of workload
	// identities.
	OperationRotateWorkloadIdentityKeyComplete = "rotate-workload-identity-key-complete"
)

// Aspects of the health of a garden.
const (
	// ConditionTypeObjectsHealthy reports whether the seeds and the objects of users are well. Only this garden has it.
	ConditionTypeObjectsHealthy gardencorev1beta1.ConditionType = "ObjectsHealthy"
	// ConditionTypeRuntimeComponentsHealthy reports whether what runs beside the garden's API is well.
	ConditionTypeRuntimeComponentsHealthy gardencorev1beta1.ConditionType = "RuntimeComponentsHealthy"
	// ConditionTypeVirtualComponentsHealthy reports whether what serves the garden's API is well.
	ConditionTypeVirtualComponentsHealthy gardencorev1beta1.ConditionType = "VirtualComponentsHealthy"
	// ConditionTypeVirtualGardenAPIServerAvailable reports whether the garden's API answers.
	ConditionTypeVirtualGardenAPIServerAvailable gardencorev1beta1.ConditionType = "VirtualGardenAPIServerAvailable"
	// ConditionTypeObservabilityComponentsHealthy reports whether the garden's monitoring is well.
	ConditionTypeObservabilityComponentsHealthy gardencorev1beta1.ConditionType = "ObservabilityComponentsHealthy"
)

// ConditionTypes returns the types of all conditions of a Garden.
func ConditionTypes() []string {
	return []string{
		string(ConditionTypeVirtualGardenAPIServerAvailable), string(ConditionTypeRuntimeComponentsHealthy),
		string(ConditionTypeVirtualComponentsHealthy), string(ConditionTypeObservabilityComponentsHealthy), string(ConditionTypeObjectsHealthy),
	}
}
