// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerDeployment has its documentation written later.
type ControllerDeployment struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Type           string               `json:"type"`
	ProviderConfig runtime.RawExtension `json:"providerConfig"`
	// +optional
	InjectGardenKubeconfig *bool `json:"injectGardenKubeconfig,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerDeploymentList has its documentation written later.
type ControllerDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ControllerDeployment `json:"items"`
}

// HelmControllerDeployment has its documentation written later.
type HelmControllerDeployment struct {
	// +optional
	Chart []byte `json:"chart,omitempty"`
	// +optional
	OCIRepository *OCIRepository `json:"ociRepository,omitempty"`
	// +optional
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
}

// OCIRepository has its documentation written later.
type OCIRepository struct {
	// +optional
	CABundleSecretRef *corev1.LocalObjectReference `json:"caBundleSecretRef,omitempty"`
	// +optional
	Digest *string `json:"digest,omitempty"`
	// +optional
	PullSecretRef *corev1.LocalObjectReference `json:"pullSecretRef,omitempty"`
	// +optional
	Ref *string `json:"ref,omitempty"`
	// +optional
	Repository *string `json:"repository,omitempty"`
	// +optional
	Tag *string `json:"tag,omitempty"`
}
