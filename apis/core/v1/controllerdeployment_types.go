// SPDX-License-Identifier: Apache-2.0

package v1

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerDeployment holds what is needed to install an extension.
type ControllerDeployment struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Helm is the chart that installs the extension. Without it, somebody else installs, as the annotations for the
	// older version say.
	// +optional
	Helm *HelmControllerDeployment `json:"helm,omitempty"`
	// InjectGardenKubeconfig gives the extension's pods access to the garden.
	// +optional
	InjectGardenKubeconfig *bool `json:"injectGardenKubeconfig,omitempty"`
	// Resources are objects in the namespace garden that the extension needs on the seed.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
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
	// RawChart is the chart as a gzipped tar archive; excludes ociRepository.
	// +optional
	RawChart []byte `json:"rawChart,omitempty"`
	// Values are the values for the chart.
	// +optional
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
	// OCIRepository is where the chart can be fetched from; excludes rawChart.
	// +optional
	OCIRepository *OCIRepository `json:"ociRepository,omitempty"`
}

// OCIRepository names an artifact in a registry, by ref or by repository with tag or digest.
type OCIRepository struct {
	// Ref is the complete reference; repository, tag and digest are then ignored.
	// +optional
	Ref *string `json:"ref,omitempty"`
	// Repository is the reference without tag and digest.
	// +optional
	Repository *string `json:"repository,omitempty"`
	// Tag is the tag of the artifact.
	// +optional
	Tag *string `json:"tag,omitempty"`
	// Digest is the digest of the artifact; it wins over the tag.
	// +optional
	Digest *string `json:"digest,omitempty"`
	// PullSecretRef names a Secret in the namespace garden with the credentials of the registry.
	// +optional
	PullSecretRef *corev1.LocalObjectReference `json:"pullSecretRef,omitempty"`
	// CABundleSecretRef names a Secret in the namespace garden with the certificates of the registry under
	// bundle.crt.
	// +optional
	CABundleSecretRef *corev1.LocalObjectReference `json:"caBundleSecretRef,omitempty"`
}

// NamedResourceReference names an object in the namespace garden.
type NamedResourceReference struct {
	// Name is the name by which the object is referred to.
	Name string `json:"name"`
	// ResourceRef is the object.
	ResourceRef autoscalingv1.CrossVersionObjectReference `json:"resourceRef"`
}
