// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CloudProfile has its documentation written later.
type CloudProfile struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec CloudProfileSpec `json:"spec,omitempty"`
	// +optional
	Status CloudProfileStatus `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CloudProfileList has its documentation written later.
type CloudProfileList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CloudProfile `json:"items"`
}

// CloudProfileSpec has its documentation written later.
type CloudProfileSpec struct {
	Type       string             `json:"type"`
	Kubernetes KubernetesSettings `json:"kubernetes"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	MachineImages []MachineImage `json:"machineImages" patchStrategy:"merge" patchMergeKey:"name"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	MachineTypes []MachineType `json:"machineTypes" patchStrategy:"merge" patchMergeKey:"name"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	Regions []Region `json:"regions" patchStrategy:"merge" patchMergeKey:"name"`
	// +optional
	Bastion *Bastion `json:"bastion,omitempty"`
	// +optional
	CABundle *string `json:"caBundle,omitempty"`
	// +optional
	ControlPlane *CloudProfileControlPlane `json:"controlPlane,omitempty"`
	// +optional
	Limits *Limits `json:"limits,omitempty"`
	// +optional
	MachineCapabilities []CapabilityDefinition `json:"machineCapabilities,omitempty"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
	// +optional
	SeedSelector *SeedSelector `json:"seedSelector,omitempty"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	VolumeTypes []VolumeType `json:"volumeTypes,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.127.
	// +optional
	Capabilities []CapabilityDefinition `json:"capabilities,omitempty"`
}

// CloudProfileStatus has its documentation written later.
type CloudProfileStatus struct {
	// +optional
	Kubernetes *KubernetesStatus `json:"kubernetes,omitempty"`
	// +optional
	MachineImages []MachineImageStatus `json:"machineImages,omitempty"`
}

// KubernetesSettings has its documentation written later.
type KubernetesSettings struct {
	// +patchStrategy=merge
	// +patchMergeKey=version
	// +optional
	Versions []ExpirableVersion `json:"versions,omitempty" patchStrategy:"merge" patchMergeKey:"version"`
}

// ExpirableVersion has its documentation written later.
type ExpirableVersion struct {
	Version string `json:"version"`
	// +optional
	Classification *VersionClassification `json:"classification,omitempty"`
	// +optional
	ExpirationDate *metav1.Time `json:"expirationDate,omitempty"`
	// +optional
	Lifecycle []LifecycleStage `json:"lifecycle,omitempty"`
}

// VersionClassification has its documentation written later.
type VersionClassification string

const (
	// VersionClassificationUnavailable stands for unavailable.
	VersionClassificationUnavailable VersionClassification = "unavailable"
	// VersionClassificationPreview stands for preview.
	VersionClassificationPreview VersionClassification = "preview"
	// VersionClassificationSupported stands for supported.
	VersionClassificationSupported VersionClassification = "supported"
	// VersionClassificationDeprecated stands for deprecated.
	VersionClassificationDeprecated VersionClassification = "deprecated"
	// VersionClassificationExpired stands for expired.
	VersionClassificationExpired VersionClassification = "expired"
)

// LifecycleStage has its documentation written later.
type LifecycleStage struct {
	Classification VersionClassification `json:"classification"`
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
}

// Region has its documentation written later.
type Region struct {
	Name string `json:"name"`
	// +optional
	AccessRestrictions []AccessRestriction `json:"accessRestrictions,omitempty"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Zones []AvailabilityZone `json:"zones,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
}

// AvailabilityZone has its documentation written later.
type AvailabilityZone struct {
	Name string `json:"name"`
	// +optional
	UnavailableMachineTypes []string `json:"unavailableMachineTypes,omitempty"`
	// +optional
	UnavailableVolumeTypes []string `json:"unavailableVolumeTypes,omitempty"`
}

// VolumeType has its documentation written later.
type VolumeType struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	// +optional
	MinSize *resource.Quantity `json:"minSize,omitempty"`
	// +optional
	Usable *bool `json:"usable,omitempty"`
}

// Limits has its documentation written later.
type Limits struct {
	// +optional
	MaxNodesTotal *int32 `json:"maxNodesTotal,omitempty"`
}

// Bastion has its documentation written later.
type Bastion struct {
	// +optional
	MachineImage *BastionMachineImage `json:"machineImage,omitempty"`
	// +optional
	MachineType *BastionMachineType `json:"machineType,omitempty"`
}

// BastionMachineImage has its documentation written later.
type BastionMachineImage struct {
	Name string `json:"name"`
	// +optional
	Version *string `json:"version,omitempty"`
}

// BastionMachineType has its documentation written later.
type BastionMachineType struct {
	Name string `json:"name"`
}

// CloudProfileControlPlane has its documentation written later.
type CloudProfileControlPlane struct {
	// +optional
	AllowZonePinning bool `json:"allowZonePinning,omitempty"`
}

// KubernetesStatus has its documentation written later.
type KubernetesStatus struct {
	// +optional
	Versions []ExpirableVersionStatus `json:"versions,omitempty"`
}

// ExpirableVersionStatus has its documentation written later.
type ExpirableVersionStatus struct {
	Version        string                `json:"version"`
	Classification VersionClassification `json:"classification"`
}

// MachineImageStatus has its documentation written later.
type MachineImageStatus struct {
	Name string `json:"name"`
	// +optional
	Versions []ExpirableVersionStatus `json:"versions,omitempty"`
}
