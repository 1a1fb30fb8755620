// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerDeployment holds what is needed to install an extension.
type ControllerDeployment struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Type says how to read the provider config; helm is built in. It never changes.
	Type string `json:"type"`
	// ProviderConfig holds the deployment; for type helm a HelmControllerDeployment.
	ProviderConfig runtime.RawExtension `json:"providerConfig"`
	// InjectGardenKubeconfig gives the extension's pods access to the garden.
	// +optional
	InjectGardenKubeconfig *bool `json:"injectGardenKubeconfig,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerDeploymentList is a list of controller deployments.
type ControllerDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the controller deployments.
	Items []ControllerDeployment `json:"items"`
}

// HelmControllerDeployment is a Helm chart with its values.
type HelmControllerDeployment struct {
	// Chart is the chart as a gzipped tar archive; excludes ociRepository.
	// +optional
	Chart []byte `json:"chart,omitempty"`
	// OCIRepository is where the chart can be fetched from; excludes chart.
	// +optional
	OCIRepository *OCIRepository `json:"ociRepository,omitempty"`
	// Values are the values for the chart.
	// +optional
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
}

// OCIRepository names an artifact in a registry, by ref or by repository with tag or digest.
type OCIRepository struct {
	// CABundleSecretRef names a Secret in the namespace garden with the certificates of the registry under
	// bundle.crt.
	// +optional
	CABundleSecretRef *corev1.LocalObjectReference `json:"caBundleSecretRef,omitempty"`
	// Digest is the digest of the artifact; it wins over the tag.
	// +optional
	Digest *string `json:"digest,omitempty"`
	// PullSecretRef names a Secret in the namespace garden with the credentials of the registry.
	// +optional
	PullSecretRef *corev1.LocalObjectReference `json:"pullSecretRef,omitempty"`
	// Ref is the complete reference; the other fields are then ignored.
	// +optional
	Ref *string `json:"ref,omitempty"`
	// Repository is the reference without tag and digest.
	// +optional
	Repository *string `json:"repository,omitempty"`
	// Tag is the tag of the artifact.
	// +optional
	Tag *string `json:"tag,omitempty"`
}
