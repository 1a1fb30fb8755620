// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ContainerRuntimeBinaryPath is the directory on every machine below which programs of further container runtimes are put.
const ContainerRuntimeBinaryPath = "/var/bin/containerruntimes"

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=containerruntimes,shortName=cr,singular=containerruntime
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ContainerRuntime asks for an additional container runtime on the machines of a worker pool.
type ContainerRuntime struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec ContainerRuntimeSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status ContainerRuntimeStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ContainerRuntimeList is a list of ContainerRuntime objects.
type ContainerRuntimeList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []ContainerRuntime `json:"items"`
}

// ContainerRuntimeSpec says which pool gets the runtime and where its programs go.
type ContainerRuntimeSpec struct {
	DefaultSpec `json:",inline"`

	// BinaryPath is the directory on the machine where the programs of the runtime are put.
	// +kubebuilder:validation:MinLength=1
	BinaryPath string `json:"binaryPath"`
	// WorkerPool selects the machines.
	WorkerPool ContainerRuntimeWorkerPool `json:"workerPool"`
}

// ContainerRuntimeWorkerPool identifies the nodes of a worker pool.
type ContainerRuntimeWorkerPool struct {
	// Name is the name of the worker pool. It never changes.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the worker pool cannot change"
	Name string `json:"name"`
	// Selector matches the nodes of the pool.
	Selector metav1.LabelSelector `json:"selector"`
}

// ContainerRuntimeStatus reports how the last operation went.
type ContainerRuntimeStatus struct {
	DefaultStatus `json:",inline"`
}
