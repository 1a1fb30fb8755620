// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=selfhostedshootexposures,shortName=exp,singular=selfhostedshootexposure
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="IP",type=string,JSONPath=`.status.ingress[0].ip`
// +kubebuilder:printcolumn:name="Hostname",type=string,JSONPath=`.status.ingress[0].hostname`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SelfHostedShootExposure asks for an address under which the API server of a shoot with its own control plane
// is reached.
type SelfHostedShootExposure struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec SelfHostedShootExposureSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status SelfHostedShootExposureStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SelfHostedShootExposureList is a list of SelfHostedShootExposure objects.
type SelfHostedShootExposureList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []SelfHostedShootExposure `json:"items"`
}

// SelfHostedShootExposureSpec says what is to be exposed.
type SelfHostedShootExposureSpec struct {
	DefaultSpec `json:",inline"`

	// Endpoints are the control plane nodes that take traffic.
	Endpoints []ControlPlaneEndpoint `json:"endpoints"`
	// Port is the port on the nodes.
	Port int32 `json:"port"`
	// CredentialsRef names the credentials for the provider.
	// +optional
	CredentialsRef *corev1.ObjectReference `json:"credentialsRef,omitempty"`
}

// ControlPlaneEndpoint is a control plane node.
type ControlPlaneEndpoint struct {
	// NodeName is the name of the node.
	NodeName string `json:"nodeName"`
	// Addresses are the addresses of the node.
	Addresses []corev1.NodeAddress `json:"addresses"`
}

// SelfHostedShootExposureStatus reports where the API server is reached.
type SelfHostedShootExposureStatus struct {
	DefaultStatus `json:",inline"`

	// Ingress lists the addresses of the API server.
	// +optional
	Ingress []corev1.LoadBalancerIngress `json:"ingress,omitempty"`
}
