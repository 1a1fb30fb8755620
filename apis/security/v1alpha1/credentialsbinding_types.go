// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CredentialsBinding lets shoots of a project use credentials: a Secret, an InternalSecret or a WorkloadIdentity.
type CredentialsBinding struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Provider says for which provider the credentials are. It never changes.
	Provider CredentialsBindingProvider `json:"provider" protobuf:"bytes,2,opt,name=provider"`
	// CredentialsRef are the credentials, in this or in another namespace. It never changes.
	CredentialsRef corev1.ObjectReference `json:"credentialsRef" protobuf:"bytes,3,opt,name=credentialsRef"`
	// Quotas are the quotas that limit the shoots using the binding.
	// +optional
	Quotas []corev1.ObjectReference `json:"quotas,omitempty" protobuf:"bytes,4,rep,name=quotas"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CredentialsBindingList is a list of credentials bindings.
type CredentialsBindingList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the credentials bindings.
	Items []CredentialsBinding `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// CredentialsBindingProvider says for which provider credentials are.
type CredentialsBindingProvider struct {
	// Type is the provider type.
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
}
