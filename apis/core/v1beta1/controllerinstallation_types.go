// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerInstallation has its documentation written later.
type ControllerInstallation struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec ControllerInstallationSpec `json:"spec,omitempty"`
	// +optional
	Status ControllerInstallationStatus `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerInstallationList has its documentation written later.
type ControllerInstallationList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ControllerInstallation `json:"items"`
}

// ControllerInstallationSpec has its documentation written later.
type ControllerInstallationSpec struct {
	RegistrationRef corev1.ObjectReference `json:"registrationRef"`
	// +optional
	DeploymentRef *corev1.ObjectReference `json:"deploymentRef,omitempty"`
	// +optional
	ResourceRefs []corev1.ObjectReference `json:"resourceRefs,omitempty"`
	// +optional
	SeedRef *corev1.ObjectReference `json:"seedRef,omitempty"`
	// +optional
	ShootRef *corev1.ObjectReference `json:"shootRef,omitempty"`
}

// ControllerInstallationStatus has its documentation written later.
type ControllerInstallationStatus struct {
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	// +optional
	ProviderStatus *runtime.RawExtension `json:"providerStatus,omitempty"`
}
