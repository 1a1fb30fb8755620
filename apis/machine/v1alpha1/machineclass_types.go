// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,path=machineclasses,singular=machineclass,shortName=machclass
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MachineClass is what a provider needs to know to create a machine.
type MachineClass struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// NodeTemplate describes the nodes of the class to the cluster autoscaler.
	// +optional
	NodeTemplate *NodeTemplate `json:"nodeTemplate,omitempty"`
	// CredentialsSecretRef names the Secret with the credentials for the provider, if they are not in SecretRef.
	// +optional
	CredentialsSecretRef *corev1.SecretReference `json:"credentialsSecretRef,omitempty"`
	// Provider is the name of the provider.
	// +optional
	Provider string `json:"provider,omitempty"`
	// ProviderSpec is what only the provider understands.
	// +kubebuilder:pruning:PreserveUnknownFields
	ProviderSpec runtime.RawExtension `json:"providerSpec"`
	// SecretRef names the Secret with the user data of the machines.
	// +optional
	SecretRef *corev1.SecretReference `json:"secretRef,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MachineClassList is a list of MachineClass objects.
type MachineClassList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []MachineClass `json:"items"`
}

// NodeTemplate describes what a node of a class offers.
type NodeTemplate struct {
	// Capacity is the amount of each resource that the machine has.
	Capacity corev1.ResourceList `json:"capacity"`
	// VirtualCapacity is the amount of extended resources that do not depend on the machine.
	// +optional
	VirtualCapacity corev1.ResourceList `json:"virtualCapacity,omitempty"`
	// InstanceType is the provider's name of the machine size.
	InstanceType string `json:"instanceType"`
	// Region of the machine.
	Region string `json:"region"`
	// Zone of the machine.
	Zone string `json:"zone"`
	// Architecture is the processor architecture of the machine.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
}
