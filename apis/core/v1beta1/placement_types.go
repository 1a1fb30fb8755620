// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SeedSelector selects seeds by their labels and providers.
type SeedSelector struct {
	metav1.LabelSelector `json:",inline" protobuf:"bytes,1,opt,name=labelSelector"`

	// ProviderTypes are the provider types of the seeds; that of the shoot when empty, any if it holds "*".
	// +optional
	ProviderTypes []string `json:"providerTypes,omitempty" protobuf:"bytes,2,rep,name=providerTypes"`
}

// Toleration lets a shoot be placed on a seed despite a taint.
type Toleration struct {
	// Key is the key of the taint.
	Key string `json:"key" protobuf:"bytes,1,opt,name=key"`
	// Value is the value of the taint; any when unset.
	// +optional
	Value *string `json:"value,omitempty" protobuf:"bytes,2,opt,name=value"`
}

// HighAvailability says which failures a control plane survives.
type HighAvailability struct {
	// FailureTolerance names those failures.
	FailureTolerance FailureTolerance `json:"failureTolerance" protobuf:"bytes,1,opt,name=failureTolerance"`
}

// FailureTolerance names the failures that a control plane survives.
type FailureTolerance struct {
	// Type is node or zone.
	Type FailureToleranceType `json:"type" protobuf:"bytes,1,opt,name=type"`
}

// FailureToleranceType is a type of failure that a control plane survives.
type FailureToleranceType string

const (
	// FailureToleranceTypeNode means that a node may fail.
	FailureToleranceTypeNode FailureToleranceType = "node"
	// FailureToleranceTypeZone means that an availability zone may fail.
	FailureToleranceTypeZone FailureToleranceType = "zone"
)
