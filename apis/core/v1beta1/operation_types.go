// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastOperation has its documentation written later.
type LastOperation struct {
	Type           LastOperationType  `json:"type"`
	Description    string             `json:"description"`
	LastUpdateTime metav1.Time        `json:"lastUpdateTime"`
	Progress       int32              `json:"progress"`
	State          LastOperationState `json:"state"`
}

// LastOperationType has its documentation written later.
type LastOperationType string

const (
	// LastOperationTypeCreate stands for Create.
	LastOperationTypeCreate LastOperationType = "Create"
	// LastOperationTypeReconcile stands for Reconcile.
	LastOperationTypeReconcile LastOperationType = "Reconcile"
	// LastOperationTypeDelete stands for Delete.
	LastOperationTypeDelete LastOperationType = "Delete"
	// LastOperationTypeMigrate stands for Migrate.
	LastOperationTypeMigrate LastOperationType = "Migrate"
	// LastOperationTypeRestore stands for Restore.
	LastOperationTypeRestore LastOperationType = "Restore"
	// LastOperationTypeLiveMigrate stands for LiveMigrate.
	LastOperationTypeLiveMigrate LastOperationType = "LiveMigrate"
)

// LastOperationState has its documentation written later.
type LastOperationState string

const (
	// LastOperationStateProcessing stands for Processing.
	LastOperationStateProcessing LastOperationState = "Processing"
	// LastOperationStateSucceeded stands for Succeeded.
	LastOperationStateSucceeded LastOperationState = "Succeeded"
	// LastOperationStateError stands for Error.
	LastOperationStateError LastOperationState = "Error"
	// LastOperationStateFailed stands for Failed.
	LastOperationStateFailed LastOperationState = "Failed"
	// LastOperationStatePending stands for Pending.
	LastOperationStatePending LastOperationState = "Pending"
	// LastOperationStateAborted stands for Aborted.
	LastOperationStateAborted LastOperationState = "Aborted"
)

// LastError has its documentation written later.
type LastError struct {
	Description string `json:"description"`
	// +optional
	Codes []ErrorCode `json:"codes,omitempty"`
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// +optional
	TaskID *string `json:"taskID,omitempty"`
}
