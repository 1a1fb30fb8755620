// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastOperation tells what was last done with an object and how far it got.
type LastOperation struct {
	// Type is what is being done.
	Type LastOperationType `json:"type" protobuf:"bytes,5,opt,name=type"`
	// Description tells a person what is going on.
	Description string `json:"description" protobuf:"bytes,1,opt,name=description"`
	// LastUpdateTime is when the operation last made itself heard.
	LastUpdateTime metav1.Time `json:"lastUpdateTime" protobuf:"bytes,2,opt,name=lastUpdateTime"`
	// Progress is how far the operation got, from 0 to 100 percent.
	Progress int32 `json:"progress" protobuf:"varint,3,opt,name=progress"`
	// State is how the operation is going.
	State LastOperationState `json:"state" protobuf:"bytes,4,opt,name=state"`
}

// LastOperationType says what is being done with an object.
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

// LastOperationState says how an operation is going.
type LastOperationState string

const (
	// LastOperationStateProcessing means that it is under way.
	LastOperationStateProcessing LastOperationState = "Processing"
	// LastOperationStateSucceeded means that it is done.
	LastOperationStateSucceeded LastOperationState = "Succeeded"
	// LastOperationStateError means that it failed and will be tried again.
	LastOperationStateError LastOperationState = "Error"
	// LastOperationStateFailed means that it failed for good, until the user does something.
	LastOperationStateFailed LastOperationState = "Failed"
	// LastOperationStatePending means that it waits for something else.
	LastOperationStatePending LastOperationState = "Pending"
	// LastOperationStateAborted means that it was given up on purpose.
	LastOperationStateAborted LastOperationState = "Aborted"
)

// LastError is an error of the last operation.
type LastError struct {
	// Description tells a person what went wrong.
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
