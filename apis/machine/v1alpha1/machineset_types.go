// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:resource:scope=Namespaced,path=machinesets,singular=machineset,shortName=mcs
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Current",type=integer,JSONPath=`.status.replicas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MachineSet is a number of machines that are made from the same template.
type MachineSet struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec MachineSetSpec `json:"spec,omitempty"`
	// Status is what the machine controller reports.
	// +optional
	Status MachineSetStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MachineSetList is a list of MachineSet objects.
type MachineSetList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []MachineSet `json:"items"`
}

// MachineSetSpec says how many machines a set has, and what they are made from.
type MachineSetSpec struct {
	// Replicas is the wanted number of machines.
	// +optional
	Replicas int32 `json:"replicas"`
	// Selector selects the Machines of the set.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// MachineClass names the class of the machines.
	// +optional
	MachineClass ClassSpec `json:"machineClass,omitempty"`
	// Template is what the Machines are made from.
	// +optional
	Template MachineTemplateSpec `json:"template,omitempty"`
	// MinReadySeconds is how long a machine must be ready until it counts as available.
	// +optional
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`
	// AutoPreserveFailedMachineMax is how many failed machines are kept at the same time without anybody having asked for it.
	// +optional
	AutoPreserveFailedMachineMax int32 `json:"autoPreserveFailedMachineMax,omitempty"`
}

// MachineTemplateSpec is what Machines are made from.
type MachineTemplateSpec struct {
	// Labels and annotations of the Machines.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec of the Machines.
	// +optional
	Spec MachineSpec `json:"spec,omitempty"`
}

// MachineSetStatus reports the machines of a set.
type MachineSetStatus struct {
	// Replicas is the number of Machines.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// FullyLabeledReplicas is the number of Machines with all labels of the template.
	// +optional
	FullyLabeledReplicas int32 `json:"fullyLabeledReplicas,omitempty"`
	// ReadyReplicas is the number of Machines whose node is ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// AvailableReplicas is the number of Machines whose node has been ready for MinReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas,omitempty"`
	// PreservedFailedReplicas is the number of Machines that have failed and are kept.
	// +optional
	PreservedFailedReplicas int32 `json:"preservedFailedReplicas,omitempty"`
	// ObservedGeneration is the generation of the spec that the numbers are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions of the set.
	// +optional
	Conditions []MachineSetCondition `json:"machineSetCondition,omitempty"`
	// LastOperation is what was last done with a machine of the set.
	// +optional
	LastOperation LastOperation `json:"lastOperation,omitempty"`
	// FailedMachines are the machines with which something went wrong.
	// +optional
	FailedMachines []MachineSummary `json:"failedMachines,omitempty"`
}

// MachineSetCondition is one aspect of a set.
type MachineSetCondition struct {
	// Type of the condition.
	Type string `json:"type"`
	// Status of the condition: True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// LastTransitionTime is when the status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// Reason is a word for why.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message says why.
	// +optional
	Message string `json:"message,omitempty"`
}

// MachineSummary is a machine with which something went wrong.
type MachineSummary struct {
	// Name of the Machine.
	// +optional
	Name string `json:"name,omitempty"`
	// ProviderID is the identity of the machine at its provider.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// LastOperation is what went wrong.
	// +optional
	LastOperation LastOperation `json:"lastOperation,omitempty"`
	// OwnerRef is the name of the MachineSet.
	// +optional
	OwnerRef string `json:"ownerRef,omitempty"`
}
