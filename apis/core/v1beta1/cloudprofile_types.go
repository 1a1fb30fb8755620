// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CloudProfile says what a provider offers: versions, regions, machines, volumes and images.
type CloudProfile struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec is the offer.
	// +optional
	Spec CloudProfileSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// Status is what the versions' lifecycles mean at present.
	// +optional
	Status CloudProfileStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CloudProfileList is a list of cloud profiles.
type CloudProfileList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the cloud profiles.
	Items []CloudProfile `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// CloudProfileSpec is what a provider offers.
type CloudProfileSpec struct {
	// Type is the provider type.
	Type string `json:"type" protobuf:"bytes,8,opt,name=type"`
	// Kubernetes holds the versions that shoots may use.
	Kubernetes KubernetesSettings `json:"kubernetes" protobuf:"bytes,2,opt,name=kubernetes"`
	// MachineImages are the operating system images that shoots may use.
	// +patchStrategy=merge
	// +patchMergeKey=name
	MachineImages []MachineImage `json:"machineImages" protobuf:"bytes,3,rep,name=machineImages" patchStrategy:"merge" patchMergeKey:"name"`
	// MachineTypes are the sizes of machines that shoots may use.
	// +patchStrategy=merge
	// +patchMergeKey=name
	MachineTypes []MachineType `json:"machineTypes" protobuf:"bytes,4,rep,name=machineTypes" patchStrategy:"merge" patchMergeKey:"name"`
	// Regions are the regions in which shoots can run.
	// +patchStrategy=merge
	// +patchMergeKey=name
	Regions []Region `json:"regions" protobuf:"bytes,6,rep,name=regions" patchStrategy:"merge" patchMergeKey:"name"`
	// Bastion configures bastions.
	// +optional
	Bastion *Bastion `json:"bastion,omitempty" protobuf:"bytes,10,opt,name=bastion"`
	// CABundle holds certificates in PEM that machines should trust.
	// +optional
	CABundle *string `json:"caBundle,omitempty" protobuf:"bytes,1,opt,name=caBundle"`
	// ControlPlane holds settings for control planes.
	// +optional
	ControlPlane *CloudProfileControlPlane `json:"controlPlane,omitempty" protobuf:"bytes,13,opt,name=controlPlane"`
	// Limits are limits for shoots that use the profile.
	// +optional
	Limits *Limits `json:"limits,omitempty" protobuf:"bytes,11,opt,name=limits"`
	// MachineCapabilities defines what machine types and images can differ in.
	// +optional
	MachineCapabilities []CapabilityDefinition `json:"machineCapabilities,omitempty" protobuf:"bytes,12,rep,name=machineCapabilities"`
	// ProviderConfig is configuration that only the provider understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,5,opt,name=providerConfig"`
	// SeedSelector restricts the seeds for shoots of this profile.
	// +optional
	SeedSelector *SeedSelector `json:"seedSelector,omitempty" protobuf:"bytes,7,opt,name=seedSelector"`
	// VolumeTypes are the kinds of volumes that shoots may use.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	VolumeTypes []VolumeType `json:"volumeTypes,omitempty" protobuf:"bytes,9,rep,name=volumeTypes" patchStrategy:"merge" patchMergeKey:"name"`
	// Capabilities is the former name of machineCapabilities. Ignored; last used by Gardener v1.127.
	// +optional
	Capabilities []CapabilityDefinition `json:"capabilities,omitempty" protobuf:"bytes,1001,rep,name=capabilities"`
}

// CloudProfileStatus is what the versions' lifecycles mean at present.
type CloudProfileStatus struct {
	// Kubernetes holds the state of the Kubernetes versions.
	// +optional
	Kubernetes *KubernetesStatus `json:"kubernetes,omitempty" protobuf:"bytes,1,opt,name=kubernetes"`
	// MachineImages holds the state of the image versions.
	// +optional
	MachineImages []MachineImageStatus `json:"machineImages,omitempty" protobuf:"bytes,2,rep,name=machineImages"`
}

// KubernetesSettings holds the versions that shoots may use.
type KubernetesSettings struct {
	// Versions are those versions.
	// +patchStrategy=merge
	// +patchMergeKey=version
	// +optional
	Versions []ExpirableVersion `json:"versions,omitempty" protobuf:"bytes,1,rep,name=versions" patchStrategy:"merge" patchMergeKey:"version"`
}

// ExpirableVersion is a version with its lifecycle.
type ExpirableVersion struct {
	// Version is the version itself.
	Version string `json:"version" protobuf:"bytes,1,opt,name=version"`
	// Classification is the stage; superseded by lifecycle.
	// +optional
	Classification *VersionClassification `json:"classification,omitempty" protobuf:"bytes,3,opt,name=classification"`
	// ExpirationDate is when the version can no longer be used; superseded by lifecycle.
	// +optional
	ExpirationDate *metav1.Time `json:"expirationDate,omitempty" protobuf:"bytes,2,opt,name=expirationDate"`
	// Lifecycle lists the stages with their start times, in chronological order.
	// +optional
	Lifecycle []LifecycleStage `json:"lifecycle,omitempty" protobuf:"bytes,4,rep,name=lifecycle"`
}

// VersionClassification is a stage in the life of a version.
type VersionClassification string

const (
	// VersionClassificationUnavailable means that the version cannot yet be used.
	VersionClassificationUnavailable VersionClassification = "unavailable"
	// VersionClassificationPreview means that the version may be tried; nothing is updated to it automatically.
	VersionClassificationPreview VersionClassification = "preview"
	// VersionClassificationSupported means that the version is recommended; only one patch of a minor version should
	// be.
	VersionClassificationSupported VersionClassification = "supported"
	// VersionClassificationDeprecated means that the version should no longer be used; nothing is updated to it automatically.
	VersionClassificationDeprecated VersionClassification = "deprecated"
	// VersionClassificationExpired means that the version can no longer be used.
	VersionClassificationExpired VersionClassification = "expired"
)

// LifecycleStage is a stage in the life of a version.
type LifecycleStage struct {
	// Classification is the stage.
	Classification VersionClassification `json:"classification" protobuf:"bytes,1,opt,name=classification"`
	// StartTime is when the stage begins; a stage without it has always begun.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty" protobuf:"bytes,2,opt,name=startTime"`
}

// Region is a region of a provider.
type Region struct {
	// Name is the provider's name of the region.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// AccessRestrictions are the restrictions that shoots in this region may ask for.
	// +optional
	AccessRestrictions []AccessRestriction `json:"accessRestrictions,omitempty" protobuf:"bytes,4,rep,name=accessRestrictions"`
	// Labels describe the region, for instance to seed selectors.
	// +optional
	Labels map[string]string `json:"labels,omitempty" protobuf:"bytes,3,rep,name=labels"`
	// Zones are the availability zones of the region.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Zones []AvailabilityZone `json:"zones,omitempty" protobuf:"bytes,2,rep,name=zones" patchStrategy:"merge" patchMergeKey:"name"`
}

// AvailabilityZone is an availability zone of a region.
type AvailabilityZone struct {
	// Name is the provider's name of the zone.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// UnavailableMachineTypes are the machine types that do not exist in the zone.
	// +optional
	UnavailableMachineTypes []string `json:"unavailableMachineTypes,omitempty" protobuf:"bytes,2,rep,name=unavailableMachineTypes"`
	// UnavailableVolumeTypes are the volume types that do not exist in the zone.
	// +optional
	UnavailableVolumeTypes []string `json:"unavailableVolumeTypes,omitempty" protobuf:"bytes,3,rep,name=unavailableVolumeTypes"`
}

// VolumeType is a kind of volume.
type VolumeType struct {
	// Name is the provider's name of the kind.
	Name string `json:"name" protobuf:"bytes,2,opt,name=name"`
	// Class is standard or premium.
	Class string `json:"class" protobuf:"bytes,1,opt,name=class"`
	// MinSize is the smallest size of a volume.
	// +optional
	MinSize *resource.Quantity `json:"minSize,omitempty" protobuf:"bytes,4,opt,name=minSize"`
	// Usable says whether shoots may use it. Defaults to true.
	// +optional
	Usable *bool `json:"usable,omitempty" protobuf:"varint,3,opt,name=usable"`
}

// Limits are limits for shoots that use the profile.
type Limits struct {
	// MaxNodesTotal is the largest number of nodes of a shoot.
	// +optional
	MaxNodesTotal *int32 `json:"maxNodesTotal,omitempty" protobuf:"varint,1,opt,name=maxNodesTotal"`
}

// Bastion configures bastions; at least one of the fields is set.
type Bastion struct {
	// MachineImage is the image of the host.
	// +optional
	MachineImage *BastionMachineImage `json:"machineImage,omitempty" protobuf:"bytes,1,opt,name=machineImage"`
	// MachineType is the size of the host.
	// +optional
	MachineType *BastionMachineType `json:"machineType,omitempty" protobuf:"bytes,2,opt,name=machineType"`
}

// BastionMachineImage is the image of a bastion.
type BastionMachineImage struct {
	// Name is the name of an image of this profile.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// Version is the version of the image; the newest supported one when unset.
	// +optional
	Version *string `json:"version,omitempty" protobuf:"bytes,2,opt,name=version"`
}

// BastionMachineType is the size of a bastion.
type BastionMachineType struct {
	// Name is the name of a machine type of this profile.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
}

// CloudProfileControlPlane holds settings for control planes.
type CloudProfileControlPlane struct {
	// AllowZonePinning lets shoots choose the zones of their control plane.
	// +optional
	AllowZonePinning bool `json:"allowZonePinning,omitempty" protobuf:"varint,1,opt,name=allowZonePinning"`
}

// KubernetesStatus is the state of the Kubernetes versions.
type KubernetesStatus struct {
	// Versions lists each version with its stage.
	// +optional
	Versions []ExpirableVersionStatus `json:"versions,omitempty" protobuf:"bytes,1,rep,name=versions"`
}

// ExpirableVersionStatus is a version with its current stage.
type ExpirableVersionStatus struct {
	// Version is the version.
	Version string `json:"version" protobuf:"bytes,1,opt,name=version"`
	// Classification is the stage.
	Classification VersionClassification `json:"classification" protobuf:"bytes,2,opt,name=classification"`
}

// MachineImageStatus is the state of an image's versions.
type MachineImageStatus struct {
	// Name is the name of the image.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// Versions lists each version with its stage.
	// +optional
	Versions []ExpirableVersionStatus `json:"versions,omitempty" protobuf:"bytes,2,rep,name=versions"`
}
