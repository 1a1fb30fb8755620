// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SeedSelector has its documentation written later.
type SeedSelector struct {
	metav1.LabelSelector `json:",inline"`
	// +optional
	ProviderTypes []string `json:"providerTypes,omitempty"`
}

// Toleration has its documentation written later.
type Toleration struct {
	Key string `json:"key"`
	// +optional
	Value *string `json:"value,omitempty"`
}

// HighAvailability has its documentation written later.
type HighAvailability struct {
	FailureTolerance FailureTolerance `json:"failureTolerance"`
}

// FailureTolerance has its documentation written later.
type FailureTolerance struct {
	Type FailureToleranceType `json:"type"`
}

// FailureToleranceType has its documentation written later.
type FailureToleranceType string

const (
	// FailureToleranceTypeNode stands for node.
	FailureToleranceTypeNode FailureToleranceType = "node"
	// FailureToleranceTypeZone stands for zone.
	FailureToleranceTypeZone FailureToleranceType = "zone"
)
