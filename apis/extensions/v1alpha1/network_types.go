// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=networks,singular=network
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Pod CIDR",type=string,JSONPath=`.spec.podCIDR`
// +kubebuilder:printcolumn:name="Service CIDR",type=string,JSONPath=`.spec.serviceCIDR`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Network asks for a network plugin inside a shoot.
type Network struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec NetworkSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status NetworkStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// NetworkList is a list of Network objects.
type NetworkList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []Network `json:"items"`
}

// +kubebuilder:validation:XValidation:rule="!isCIDR(self.podCIDR) || !isCIDR(self.serviceCIDR) || !(cidr(self.podCIDR).masked().containsCIDR(cidr(self.serviceCIDR).masked()) || cidr(self.serviceCIDR).masked().containsCIDR(cidr(self.podCIDR).masked()))",message="podCIDR and serviceCIDR must not overlap"

// NetworkSpec says which address ranges the plugin works with.
type NetworkSpec struct {
	DefaultSpec `json:",inline"`

	// PodCIDR is the range of pod addresses in CIDR notation. It never changes.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="must be a range in CIDR notation, such as 10.0.0.0/16"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the range of the pods cannot change"
	PodCIDR string `json:"podCIDR"`
	// ServiceCIDR is the range of Service addresses in CIDR notation. It never changes.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="must be a range in CIDR notation, such as 10.0.0.0/16"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the range of the Services cannot change"
	ServiceCIDR string `json:"serviceCIDR"`
	// IPFamilies lists the families in use; IPv4 alone when unset.
	// +optional
	IPFamilies []IPFamily `json:"ipFamilies,omitempty"`
}

// IPFamily is a version of the internet protocol.
type IPFamily string

const (
	// IPFamilyIPv4 is version 4.
	IPFamilyIPv4 IPFamily = "IPv4"
	// IPFamilyIPv6 is version 6.
	IPFamilyIPv6 IPFamily = "IPv6"
)

// NetworkStatus reports which families are in use.
type NetworkStatus struct {
	DefaultStatus `json:",inline"`

	// IPFamilies lists the families that the plugin serves at the moment.
	// +optional
	IPFamilies []IPFamily `json:"ipFamilies,omitempty"`
}
