// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// NamespacedCloudProfile extends a CloudProfile for the shoots of one project.
type NamespacedCloudProfile struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec is what the project adds.
	// +optional
	Spec NamespacedCloudProfileSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// Status is the offer that results.
	// +optional
	Status NamespacedCloudProfileStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// NamespacedCloudProfileList is a list of namespaced cloud profiles.
type NamespacedCloudProfileList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the namespaced cloud profiles.
	Items []NamespacedCloudProfile `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// NamespacedCloudProfileSpec is what a project adds to a cloud profile.
type NamespacedCloudProfileSpec struct {
	// CABundle holds further certificates in PEM that machines should trust.
	// +optional
	CABundle *string `json:"caBundle,omitempty" protobuf:"bytes,1,opt,name=caBundle"`
	// Kubernetes holds versions of the parent with another expiration date.
	// +optional
	Kubernetes *KubernetesSettings `json:"kubernetes,omitempty" protobuf:"bytes,2,opt,name=kubernetes"`
	// MachineImages are further images, and versions of the parent's images with another expiration date.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	MachineImages []MachineImage `json:"machineImages,omitempty" protobuf:"bytes,3,rep,name=machineImages" patchStrategy:"merge" patchMergeKey:"name"`
	// MachineTypes are further sizes of machines.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	MachineTypes []MachineType `json:"machineTypes,omitempty" protobuf:"bytes,4,rep,name=machineTypes" patchStrategy:"merge" patchMergeKey:"name"`
	// VolumeTypes are further kinds of volumes.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	VolumeTypes []VolumeType `json:"volumeTypes,omitempty" protobuf:"bytes,6,rep,name=volumeTypes" patchStrategy:"merge" patchMergeKey:"name"`
	// Parent is the CloudProfile that is extended. It never changes.
	Parent CloudProfileReference `json:"parent" protobuf:"bytes,7,opt,name=parent"`
	// ProviderConfig is configuration that only the provider understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,8,opt,name=providerConfig"`
	// Limits are limits for shoots that use the profile.
	// +optional
	Limits *Limits `json:"limits,omitempty" protobuf:"bytes,9,opt,name=limits"`
}

// NamespacedCloudProfileStatus is the offer that results for the project.
type NamespacedCloudProfileStatus struct {
	// CloudProfileSpec is the parent's offer with the additions merged in.
	// +optional
	CloudProfileSpec CloudProfileSpec `json:"cloudProfileSpec,omitempty" protobuf:"bytes,1,opt,name=cloudProfileSpec"`
	// ObservedGeneration is the generation that was last acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,2,opt,name=observedGeneration"`
}
