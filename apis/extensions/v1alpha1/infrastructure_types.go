// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=infrastructures,shortName=infra,singular=infrastructure
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.spec.region`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Infrastructure asks for the networks, gateways and identities that the machines of a shoot need.
type Infrastructure struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec InfrastructureSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status InfrastructureStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// InfrastructureList is a list of Infrastructure objects.
type InfrastructureList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []Infrastructure `json:"items"`
}

// InfrastructureSpec says where the infrastructure is made and with which credentials.
type InfrastructureSpec struct {
	DefaultSpec `json:",inline"`

	// Region is the region of the shoot.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the region cannot change"
	Region string `json:"region"`
	// SecretRef names the Secret with the provider credentials of the shoot.
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != ''",message="the name of the Secret is required"
	SecretRef corev1.SecretReference `json:"secretRef"`
	// SSHPublicKey is installed on the machines so that bastions can reach them.
	// +optional
	SSHPublicKey []byte `json:"sshPublicKey,omitempty"`
}

// InfrastructureStatus reports which networks were made.
type InfrastructureStatus struct {
	DefaultStatus `json:",inline"`

	// EgressCIDRs are the source networks of traffic that leaves the shoot.
	// +optional
	EgressCIDRs []string `json:"egressCIDRs,omitempty"`
	// Networking holds the networks of nodes, pods and services as the provider chose them.
	// +optional
	Networking *InfrastructureStatusNetworking `json:"networking,omitempty"`
	// NodesCIDR is the network of the nodes; superseded by the list in networking.
	// +optional
	NodesCIDR *string `json:"nodesCIDR,omitempty"`
}

// InfrastructureStatusNetworking lists networks in CIDR notation.
type InfrastructureStatusNetworking struct {
	// Nodes are the networks of the machines.
	// +optional
	Nodes []string `json:"nodes,omitempty"`
	// Pods are the networks of the pods.
	// +optional
	Pods []string `json:"pods,omitempty"`
	// Services are the networks of the Services.
	// +optional
	Services []string `json:"services,omitempty"`
}
