// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastOperation describes the last operation on an object and its progress.
type LastOperation struct {
	// Type is the type of the operation.
	Type LastOperationType `json:"type" protobuf:"bytes,5,opt,name=type"`
	// Description is a human-readable description of the operation's state.
	Description string `json:"description" protobuf:"bytes,1,opt,name=description"`
	// LastUpdateTime is when the operation was last updated.
	LastUpdateTime metav1.Time `json:"lastUpdateTime" protobuf:"bytes,2,opt,name=lastUpdateTime"`
	// Progress is the progress of the operation, from 0 to 100 percent.
	Progress int32 `json:"progress" protobuf:"varint,3,opt,name=progress"`
	// State is the state of the operation.
	State LastOperationState `json:"state" protobuf:"bytes,4,opt,name=state"`
}

// LastOperationType is the type of an operation.
type LastOperationType string

const (
	// LastOperationTypeCreate is the first creation.
	LastOperationTypeCreate LastOperationType = "Create"
	// LastOperationTypeReconcile is an update of what exists.
	LastOperationTypeReconcile LastOperationType = "Reconcile"
	// LastOperationTypeDelete is the deletion.
	LastOperationTypeDelete LastOperationType = "Delete"
	// LastOperationTypeMigrate is the part of a control plane's move that happens on the old seed.
	LastOperationTypeMigrate LastOperationType = "Migrate"
	// LastOperationTypeRestore is the part of a control plane's move that happens on the new seed.
	LastOperationTypeRestore LastOperationType = "Restore"
	// LastOperationTypeLiveMigrate is the move of a control plane that keeps running.
	LastOperationTypeLiveMigrate LastOperationType = "LiveMigrate"
)

// LastOperationState is the state of an operation.
type LastOperationState string

const (
	// LastOperationStateProcessing means that it is in progress.
	LastOperationStateProcessing LastOperationState = "Processing"
	// LastOperationStateSucceeded means that it is done.
	LastOperationStateSucceeded LastOperationState = "Succeeded"
	// LastOperationStateError means that it failed and will be retried.
	LastOperationStateError LastOperationState = "Error"
	// LastOperationStateFailed means that it failed and will not be retried until the user changes something.
	LastOperationStateFailed LastOperationState = "Failed"
	// LastOperationStatePending means that it waits for something else.
	LastOperationStatePending LastOperationState = "Pending"
	// LastOperationStateAborted means that it was aborted.
	LastOperationStateAborted LastOperationState = "Aborted"
)

// LastError is an error of the last operation.
type LastError struct {
	// Description is a human-readable description of the error.
	Description string `json:"description" protobuf:"bytes,1,opt,name=description"`
	// Codes classify the error.
	// +optional
	Codes []ErrorCode `json:"codes,omitempty" protobuf:"bytes,3,rep,name=codes"`
	// LastUpdateTime is when the error was last seen.
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty" protobuf:"bytes,4,opt,name=lastUpdateTime"`
	// TaskID is the task that failed.
	// +optional
	TaskID *string `json:"taskID,omitempty" protobuf:"bytes,2,opt,name=taskID"`
}
