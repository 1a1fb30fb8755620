// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition has its documentation written later.
type Condition struct {
	Type               ConditionType   `json:"type"`
	Status             ConditionStatus `json:"status"`
	LastTransitionTime metav1.Time     `json:"lastTransitionTime"`
	LastUpdateTime     metav1.Time     `json:"lastUpdateTime"`
	Message            string          `json:"message"`
	Reason             string          `json:"reason"`
	// +optional
	Codes []ErrorCode `json:"codes,omitempty"`
}

// ConditionType has its documentation written later.
type ConditionType string

// ConditionStatus has its documentation written later.
type ConditionStatus string

const (
	// ConditionTrue stands for True.
	ConditionTrue ConditionStatus = "True"
	// ConditionFalse stands for False.
	ConditionFalse ConditionStatus = "False"
	// ConditionUnknown stands for Unknown.
	ConditionUnknown ConditionStatus = "Unknown"
	// ConditionProgressing stands for Progressing.
	ConditionProgressing ConditionStatus = "Progressing"
)

// ErrorCode has its documentation written later.
type ErrorCode string
