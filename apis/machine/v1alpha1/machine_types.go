// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=machines,singular=machine,shortName=mc
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.currentStatus.phase`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.metadata.labels.node`
// +kubebuilder:printcolumn:name="ProviderID",type=string,JSONPath=`.spec.providerID`,priority=1
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Machine is one machine at a provider, and the node that it is in the shoot. To delete the object drains and deletes the machine.
type Machine struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec MachineSpec `json:"spec,omitempty"`
	// Status is what the machine controller reports.
	// +optional
	Status MachineStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MachineList is a list of Machine objects.
type MachineList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []Machine `json:"items"`
}

// MachineSpec says what a machine is made from.
type MachineSpec struct {
	MachineConfiguration `json:",inline"`

	// Class names the MachineClass of the machine.
	// +optional
	Class ClassSpec `json:"class,omitempty"`
	// ProviderID is the identity of the machine at its provider, set once the machine exists.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// NodeTemplate is what is set on the node of the machine.
	// +optional
	NodeTemplate NodeTemplateSpec `json:"nodeTemplate,omitempty"`
}

// ClassSpec names a MachineClass.
type ClassSpec struct {
	// APIGroup is the API group of the class.
	// +optional
	APIGroup string `json:"apiGroup,omitempty"`
	// Kind is the kind of the class.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name is the name of the class.
	// +optional
	Name string `json:"name,omitempty"`
}

// NodeTemplateSpec is what is set on a node.
type NodeTemplateSpec struct {
	// Labels and annotations of the node.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec holds the taints of the node.
	// +optional
	Spec corev1.NodeSpec `json:"spec,omitempty"`
}

// MachineConfiguration are settings of the machine controller for one machine. Those that are left out have the defaults of the
// controller.
type MachineConfiguration struct {
	// DrainTimeout is how long the pods of a node may take to go before the machine is deleted nevertheless.
	// +optional
	DrainTimeout *metav1.Duration `json:"drainTimeout,omitempty"`
	// HealthTimeout is how long a node may be unhealthy before its machine is replaced.
	// +optional
	HealthTimeout *metav1.Duration `json:"healthTimeout,omitempty"`
	// CreationTimeout is how long a machine may take to become a node before it is replaced.
	// +optional
	CreationTimeout *metav1.Duration `json:"creationTimeout,omitempty"`
	// InPlaceUpdateTimeout is how long an update in place may take before it counts as failed.
	// +optional
	InPlaceUpdateTimeout *metav1.Duration `json:"inPlaceUpdateTimeout,omitempty"`
	// DisableHealthTimeout keeps machines whose node is unhealthy for longer than the health timeout.
	// +optional
	DisableHealthTimeout *bool `json:"disableHealthTimeout,omitempty"`
	// PreserveTimeout is how long a machine is kept that would otherwise be replaced.
	// +optional
	PreserveTimeout *metav1.Duration `json:"preserveTimeout,omitempty"`
	// MaxEvictRetries is how often the eviction of a pod is tried before the pod is deleted.
	// +optional
	MaxEvictRetries *int32 `json:"maxEvictRetries,omitempty"`
	// NodeConditions are the conditions that make a node unhealthy if they are true, separated by commas.
	// +optional
	NodeConditions *string `json:"nodeConditions,omitempty"`
}

// MachineStatus reports what a machine is doing.
type MachineStatus struct {
	// Addresses of the machine.
	// +optional
	Addresses []corev1.NodeAddress `json:"addresses,omitempty"`
	// Conditions are those of the node.
	// +optional
	Conditions []corev1.NodeCondition `json:"conditions,omitempty"`
	// LastOperation is what was last done with the machine.
	// +optional
	LastOperation LastOperation `json:"lastOperation,omitempty"`
	// CurrentStatus holds the phase of the machine.
	// +optional
	CurrentStatus CurrentStatus `json:"currentStatus,omitempty"`
	// LastKnownState belongs to the provider.
	// +optional
	LastKnownState string `json:"lastKnownState,omitempty"`
}

// LastOperation is what was last done with a machine.
type LastOperation struct {
	// Description says in words what was done, or what went wrong.
	// +optional
	Description string `json:"description,omitempty"`
	// ErrorCode is the code of what went wrong.
	// +optional
	ErrorCode string `json:"errorCode,omitempty"`
	// LastUpdateTime is when this was last written.
	// +optional
	LastUpdateTime metav1.Time `json:"lastUpdateTime,omitempty"`
	// State is how it went.
	// +optional
	State MachineState `json:"state,omitempty"`
	// Type is what was done.
	// +optional
	Type MachineOperationType `json:"type,omitempty"`
}

// CurrentStatus is the phase of a machine.
type CurrentStatus struct {
	// Phase is where the machine is in its life.
	// +optional
	Phase MachinePhase `json:"phase,omitempty"`
	// TimeoutActive reports whether the machine is replaced if it stays in its phase.
	// +optional
	TimeoutActive bool `json:"timeoutActive,omitempty"`
	// LastUpdateTime is when the phase last changed.
	// +optional
	LastUpdateTime metav1.Time `json:"lastUpdateTime,omitempty"`
	// PreserveExpiryTime is until when the machine is kept, even if it has failed.
	// +optional
	PreserveExpiryTime *metav1.Time `json:"preserveExpiryTime,omitempty"`
}

// MachinePhase is where a machine is in its life.
type MachinePhase string

const (
	// MachinePending is the phase of a machine that is being created.
	MachinePending MachinePhase = "Pending"
	// MachineAvailable is the phase of a machine that exists and has not joined the shoot.
	MachineAvailable MachinePhase = "Available"
	// MachineRunning is the phase of a machine whose node is ready.
	MachineRunning MachinePhase = "Running"
	// MachineTerminating is the phase of a machine that is drained and deleted.
	MachineTerminating MachinePhase = "Terminating"
	// MachineUnknown is the phase of a machine whose node was ready and is not, for less than the health timeout.
	MachineUnknown MachinePhase = "Unknown"
	// MachineFailed is the phase of a machine that is going to be replaced, unless it is kept for a while.
	MachineFailed MachinePhase = "Failed"
	// MachineCrashLoopBackOff is the phase of a machine that could not be created; it is tried again.
	MachineCrashLoopBackOff MachinePhase = "CrashLoopBackOff"
	// MachineInPlaceUpdating is the phase of a machine that is updated in place.
	MachineInPlaceUpdating MachinePhase = "InPlaceUpdating"
	// MachineInPlaceUpdateSuccessful is the phase of a machine that was updated in place.
	MachineInPlaceUpdateSuccessful MachinePhase = "InPlaceUpdateSuccessful"
	// MachineInPlaceUpdateFailed is the phase of a machine whose update in place failed.
	MachineInPlaceUpdateFailed MachinePhase = "InPlaceUpdateFailed"
)

// MachineState is how an operation went.
type MachineState string

const (
	// MachineStateProcessing is the state of an operation that is not complete.
	MachineStateProcessing MachineState = "Processing"
	// MachineStateFailed is the state of an operation that failed.
	MachineStateFailed MachineState = "Failed"
	// MachineStateSuccessful is the state of an operation that is complete.
	MachineStateSuccessful MachineState = "Successful"
)

// MachineOperationType is what was done with a machine.
type MachineOperationType string

const (
	// MachineOperationCreate creates a machine.
	MachineOperationCreate MachineOperationType = "Create"
	// MachineOperationUpdate updates a machine.
	MachineOperationUpdate MachineOperationType = "Update"
	// MachineOperationInPlaceUpdate updates a machine in place.
	MachineOperationInPlaceUpdate MachineOperationType = "InPlaceUpdate"
	// MachineOperationDrainNode moves the pods of a node elsewhere.
	MachineOperationDrainNode MachineOperationType = "DrainNode"
	// MachineOperationHealthCheck looks at the health of a node.
	MachineOperationHealthCheck MachineOperationType = "HealthCheck"
	// MachineOperationDelete deletes a machine.
	MachineOperationDelete MachineOperationType = "Delete"
)
