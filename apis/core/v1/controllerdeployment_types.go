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
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Helm is the chart that installs the extension. Without it, a third party installs the extension, as described by the
	// annotations for the older version.
	// +optional
	Helm *HelmControllerDeployment `json:"helm,omitempty" protobuf:"bytes,2,opt,name=helm"`
	// InjectGardenKubeconfig gives the extension's pods access to the garden.
	// +optional
	InjectGardenKubeconfig *bool `json:"injectGardenKubeconfig,omitempty" protobuf:"varint,3,opt,name=injectGardenKubeconfig"`
	// Resources are objects in the namespace garden that the extension needs on the seed.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty" protobuf:"bytes,4,rep,name=resources" patchStrategy:"merge" patchMergeKey:"name"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerDeploymentList is a list of controller deployments.
type ControllerDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the controller deployments.
	Items []ControllerDeployment `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// HelmControllerDeployment is a Helm chart with its values.
type HelmControllerDeployment struct {
	// RawChart is the chart as a gzipped tar archive; excludes ociRepository.
	// +optional
	RawChart []byte `json:"rawChart,omitempty" protobuf:"bytes,1,opt,name=rawChart"`
	// Values are the values for the chart.
	// +optional
	Values *apiextensionsv1.JSON `json:"values,omitempty" protobuf:"bytes,2,opt,name=values"`
	// OCIRepository is where the chart can be fetched from; excludes rawChart.
	// +optional
	OCIRepository *OCIRepository `json:"ociRepository,omitempty" protobuf:"bytes,3,opt,name=ociRepository"`
}

// OCIRepository names an artifact in a registry, by ref or by repository with tag or digest.
type OCIRepository struct {
	// Ref is the complete reference; repository, tag and digest are then ignored.
	// +optional
	Ref *string `json:"ref,omitempty" protobuf:"bytes,1,opt,name=ref"`
	// Repository is the reference without tag and digest.
	// +optional
	Repository *string `json:"repository,omitempty" protobuf:"bytes,2,opt,name=repository"`
	// Tag is the tag of the artifact.
	// +optional
	Tag *string `json:"tag,omitempty" protobuf:"bytes,3,opt,name=tag"`
	// Digest is the digest of the artifact; it wins over the tag.
	// +optional
	Digest *string `json:"digest,omitempty" protobuf:"bytes,4,opt,name=digest"`
	// PullSecretRef names a Secret in the namespace garden with the credentials of the registry.
	// +optional
	PullSecretRef *corev1.LocalObjectReference `json:"pullSecretRef,omitempty" protobuf:"bytes,5,opt,name=pullSecretRef"`
	// CABundleSecretRef names a Secret in the namespace garden with the certificates of the registry under
	// bundle.crt.
	// +optional
	CABundleSecretRef *corev1.LocalObjectReference `json:"caBundleSecretRef,omitempty" protobuf:"bytes,6,opt,name=caBundleSecretRef"`
}

// NamedResourceReference names an object in the namespace garden.
type NamedResourceReference struct {
	// Name is the name by which the object is referred to.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// ResourceRef is the object.
	ResourceRef autoscalingv1.CrossVersionObjectReference `json:"resourceRef" protobuf:"bytes,2,opt,name=resourceRef"`
}
