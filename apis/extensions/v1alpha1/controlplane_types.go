// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=controlplanes,shortName=cp,singular=controlplane
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControlPlane asks for the provider's own parts of a shoot's control plane, such as a cloud controller manager.
type ControlPlane struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec ControlPlaneSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status ControlPlaneStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControlPlaneList is a list of ControlPlane objects.
type ControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []ControlPlane `json:"items"`
}

// ControlPlaneSpec says where the shoot runs and with which credentials.
type ControlPlaneSpec struct {
	DefaultSpec `json:",inline"`

	// Region is the region of the shoot.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the region cannot change"
	Region string `json:"region"`
	// SecretRef names the Secret with the provider credentials of the shoot.
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != ''",message="the name of the Secret is required"
	SecretRef corev1.SecretReference `json:"secretRef"`
	// InfrastructureProviderStatus is a copy of the provider status of the Infrastructure.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	InfrastructureProviderStatus *runtime.RawExtension `json:"infrastructureProviderStatus,omitempty"`
}

// ControlPlaneStatus reports how the last operation went.
type ControlPlaneStatus struct {
	DefaultStatus `json:",inline"`
}
