// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SecretBinding has its documentation written later.
type SecretBinding struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	SecretRef corev1.SecretReference `json:"secretRef"`
	// +optional
	Provider *SecretBindingProvider `json:"provider,omitempty"`
	// +optional
	Quotas []corev1.ObjectReference `json:"quotas,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SecretBindingList has its documentation written later.
type SecretBindingList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []SecretBinding `json:"items"`
}

// SecretBindingProvider has its documentation written later.
type SecretBindingProvider struct {
	Type string `json:"type"`
}
