// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition is one aspect of the health of an object.
type Condition struct {
	// Type names the aspect; an object has at most one condition of each type.
	Type ConditionType `json:"type" protobuf:"bytes,1,opt,name=type"`
	// Status is True when the aspect is healthy, False when it is not, Progressing for a while after it has become unhealthy,
	// and Unknown when it cannot be determined.
	Status ConditionStatus `json:"status" protobuf:"bytes,2,opt,name=status"`
	// LastTransitionTime is when the status last changed.
	LastTransitionTime metav1.Time `json:"lastTransitionTime" protobuf:"bytes,3,opt,name=lastTransitionTime"`
	// LastUpdateTime is when anything of the condition last changed.
	LastUpdateTime metav1.Time `json:"lastUpdateTime" protobuf:"bytes,4,opt,name=lastUpdateTime"`
	// Message is a human-readable explanation of the status.
	Message string `json:"message" protobuf:"bytes,6,opt,name=message"`
	// Reason explains the status to a program, in one word.
	Reason string `json:"reason" protobuf:"bytes,5,opt,name=reason"`
	// Codes classify the errors behind a bad status.
	// +optional
	Codes []ErrorCode `json:"codes,omitempty" protobuf:"bytes,7,rep,name=codes"`
}

// ConditionType names an aspect of the health of an object.
type ConditionType string

// ConditionStatus is the answer to whether an aspect is healthy.
type ConditionStatus string

const (
	// ConditionTrue is a good status.
	ConditionTrue ConditionStatus = "True"
	// ConditionFalse is a bad status.
	ConditionFalse ConditionStatus = "False"
	// ConditionUnknown is the status of an aspect that cannot be determined.
	ConditionUnknown ConditionStatus = "Unknown"
	// ConditionProgressing is the status of an aspect that became bad within its threshold.
	ConditionProgressing ConditionStatus = "Progressing"
)

// ErrorCode classifies an error by who can do something about it.
type ErrorCode string
