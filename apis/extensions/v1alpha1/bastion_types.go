// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=bastions,singular=bastion
// +kubebuilder:printcolumn:name="IP",type=string,JSONPath=`.status.ingress.ip`
// +kubebuilder:printcolumn:name="Hostname",type=string,JSONPath=`.status.ingress.hostname`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Bastion asks for a temporary host through which machines of a shoot are reached by SSH.
type Bastion struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec BastionSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status BastionStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// BastionList is a list of Bastion objects.
type BastionList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []Bastion `json:"items"`
}

// BastionSpec says who may reach the host and how it is set up.
type BastionSpec struct {
	DefaultSpec `json:",inline"`

	// Ingress lists the networks from which SSH connections are let in.
	// +kubebuilder:validation:MinItems=1
	Ingress []BastionIngressPolicy `json:"ingress"`
	// UserData is the script that the host runs at its first boot. It never changes.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the user data of a bastion cannot change"
	UserData []byte `json:"userData"`
}

// BastionIngressPolicy names one network from which the host may be reached.
type BastionIngressPolicy struct {
	// IPBlock is the network, with exceptions if need be.
	IPBlock networkingv1.IPBlock `json:"ipBlock"`
}

// BastionStatus reports where the host can be reached.
type BastionStatus struct {
	DefaultStatus `json:",inline"`

	// Ingress is the public address of the host.
	// +optional
	Ingress *corev1.LoadBalancerIngress `json:"ingress,omitempty"`
}
