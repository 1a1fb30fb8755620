// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerInstallation is an extension on one seed or self-hosted shoot.
type ControllerInstallation struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec says which extension is installed where.
	// +optional
	Spec ControllerInstallationSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// Status reports whether the extension is healthy.
	// +optional
	Status ControllerInstallationStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerInstallationList is a list of controller installations.
type ControllerInstallationList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the controller installations.
	Items []ControllerInstallation `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ControllerInstallationSpec says which extension is installed where.
type ControllerInstallationSpec struct {
	// RegistrationRef names the ControllerRegistration, with the version that the installation was made from.
	RegistrationRef corev1.ObjectReference `json:"registrationRef" protobuf:"bytes,1,opt,name=registrationRef"`
	// DeploymentRef names the ControllerDeployment, with the version that the installation was made from.
	// +optional
	DeploymentRef *corev1.ObjectReference `json:"deploymentRef,omitempty" protobuf:"bytes,3,opt,name=deploymentRef"`
	// ResourceRefs are Secrets and ConfigMaps of the garden that the chart's values refer to.
	// +optional
	ResourceRefs []corev1.ObjectReference `json:"resourceRefs,omitempty" protobuf:"bytes,5,rep,name=resourceRefs"`
	// SeedRef names the seed, with the version that the installation was made from; excludes shootRef.
	// +optional
	SeedRef *corev1.ObjectReference `json:"seedRef,omitempty" protobuf:"bytes,2,opt,name=seedRef"`
	// ShootRef names the self-hosted shoot; excludes seedRef.
	// +optional
	ShootRef *corev1.ObjectReference `json:"shootRef,omitempty" protobuf:"bytes,4,opt,name=shootRef"`
}

// ControllerInstallationStatus reports whether an extension is well.
type ControllerInstallationStatus struct {
	// Conditions report whether the installation is valid, installed, healthy and not progressing.
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" protobuf:"bytes,1,rep,name=conditions" patchStrategy:"merge" patchMergeKey:"type"`
	// ProviderStatus is status that only the extension understands.
	// +optional
	ProviderStatus *runtime.RawExtension `json:"providerStatus,omitempty" protobuf:"bytes,2,opt,name=providerStatus"`
}
