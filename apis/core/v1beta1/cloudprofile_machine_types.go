// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MachineType is a size of machine.
type MachineType struct {
	// Name is the provider's name of the size.
	Name string `json:"name" protobuf:"bytes,4,opt,name=name"`
	// CPU is the number of processors.
	CPU resource.Quantity `json:"cpu" protobuf:"bytes,1,opt,name=cpu"`
	// GPU is the number of graphics processors.
	GPU resource.Quantity `json:"gpu" protobuf:"bytes,2,opt,name=gpu"`
	// Memory is the amount of main memory.
	Memory resource.Quantity `json:"memory" protobuf:"bytes,3,opt,name=memory"`
	// Architecture is amd64 or arm64; superseded by capabilities.
	// +optional
	Architecture *string `json:"architecture,omitempty" protobuf:"bytes,7,opt,name=architecture"`
	// Capabilities restricts the usable images to those with a matching flavor.
	// +optional
	Capabilities Capabilities `json:"capabilities,omitempty" protobuf:"bytes,8,rep,name=capabilities"`
	// MachineControllerManager holds settings for the life of such machines.
	// +optional
	MachineControllerManager *CloudProfileMachineControllerManagerSettings `json:"machineControllerManager,omitempty" protobuf:"bytes,9,opt,name=machineControllerManager"`
	// Storage is the root volume that comes with the machine.
	// +optional
	Storage *MachineTypeStorage `json:"storage,omitempty" protobuf:"bytes,5,opt,name=storage"`
	// Usable says whether shoots may use it. Defaults to true.
	// +optional
	Usable *bool `json:"usable,omitempty" protobuf:"varint,6,opt,name=usable"`
}

// MachineTypeStorage is the root volume that comes with a machine.
type MachineTypeStorage struct {
	// Type is the volume type.
	Type string `json:"type" protobuf:"bytes,3,opt,name=type"`
	// Class is standard or premium.
	Class string `json:"class" protobuf:"bytes,1,opt,name=class"`
	// MinSize is the smallest size that shoots may request; excludes size.
	// +optional
	MinSize *resource.Quantity `json:"minSize,omitempty" protobuf:"bytes,4,opt,name=minSize"`
	// Size is the size when it is fixed; excludes minSize.
	// +optional
	Size *resource.Quantity `json:"size,omitempty" protobuf:"bytes,2,opt,name=size"`
}

// CloudProfileMachineControllerManagerSettings holds settings for the life of machines of a type.
type CloudProfileMachineControllerManagerSettings struct {
	// MachineCreationTimeout is how long a machine may take to become a node.
	// +optional
	MachineCreationTimeout *metav1.Duration `json:"machineCreationTimeout,omitempty" protobuf:"bytes,1,opt,name=machineCreationTimeout"`
}

// MachineImage is an operating system image.
type MachineImage struct {
	// Name is the name of the image.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// Versions are the versions of the image.
	// +patchStrategy=merge
	// +patchMergeKey=version
	Versions []MachineImageVersion `json:"versions" protobuf:"bytes,2,rep,name=versions" patchStrategy:"merge" patchMergeKey:"version"`
	// UpdateStrategy says how far automatic updates go. Defaults to major.
	// +optional
	UpdateStrategy *MachineImageUpdateStrategy `json:"updateStrategy,omitempty" protobuf:"bytes,3,opt,name=updateStrategy"`
}

// MachineImageUpdateStrategy says how far automatic updates of an image go.
type MachineImageUpdateStrategy string

const (
	// MachineImageUpdateStrategyPatch updates within the minor version only.
	MachineImageUpdateStrategyPatch MachineImageUpdateStrategy = "patch"
	// MachineImageUpdateStrategyMinor updates within the major version only.
	MachineImageUpdateStrategyMinor MachineImageUpdateStrategy = "minor"
	// MachineImageUpdateStrategyMajor updates to the newest version.
	MachineImageUpdateStrategyMajor MachineImageUpdateStrategy = "major"
)

// MachineImageVersion is a version of an image.
type MachineImageVersion struct {
	ExpirableVersion `json:",inline" protobuf:"bytes,1,opt,name=expirableVersion"`

	// Architectures are the processor architectures of the image; superseded by capabilityFlavors.
	// +optional
	Architectures []string `json:"architectures,omitempty" protobuf:"bytes,3,rep,name=architectures"`
	// CapabilityFlavors are the variants of the image, each with its capabilities.
	// +optional
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitempty" protobuf:"bytes,6,rep,name=capabilityFlavors"`
	// CRI lists the container runtimes in the image.
	// +optional
	CRI []CRI `json:"cri,omitempty" protobuf:"bytes,2,rep,name=cri"`
	// InPlaceUpdates says whether machines can be updated to this version in place.
	// +optional
	InPlaceUpdates *InPlaceUpdates `json:"inPlaceUpdates,omitempty" protobuf:"bytes,5,opt,name=inPlaceUpdates"`
	// KubeletVersionConstraint is the range of kubelet versions that the image works with, for instance ">= 1.30".
	// +optional
	KubeletVersionConstraint *string `json:"kubeletVersionConstraint,omitempty" protobuf:"bytes,4,opt,name=kubeletVersionConstraint"`
	// CapabilitySets is the former name of capabilityFlavors. Ignored; last used by Gardener v1.127.
	// +optional
	CapabilitySets []CapabilitySet `json:"capabilitySets,omitempty" protobuf:"bytes,1001,rep,name=capabilitySets"`
}

// InPlaceUpdates says whether machines can be updated in place.
type InPlaceUpdates struct {
	// Supported says whether they can.
	Supported bool `json:"supported" protobuf:"varint,1,opt,name=supported"`
	// MinVersionForUpdate is the oldest version from which they can.
	// +optional
	MinVersionForUpdate *string `json:"minVersionForUpdate,omitempty" protobuf:"bytes,2,opt,name=minVersionForUpdate"`
}

// CapabilityDefinition defines a property in which machine types and images can differ.
type CapabilityDefinition struct {
	// Name is the name of the capability, for instance architecture.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// Values are all values that it can have.
	Values CapabilityValues `json:"values" protobuf:"bytes,2,opt,name=values"`
}

// MachineImageFlavor is a variant of an image. It is written as the map of its capabilities.
type MachineImageFlavor struct {
	// Capabilities are the values of each of its capabilities.
	Capabilities `json:"-" protobuf:"bytes,1,rep,name=capabilities"`
}

// CapabilitySet is the former form of a flavor.
//
// +protobuf.nullable=true
type CapabilitySet map[string]CapabilityValues

// Capabilities maps the name of a capability to the values that apply.
type Capabilities map[string]CapabilityValues

// CapabilityValues are values of one capability.
//
// +protobuf.nullable=true
type CapabilityValues []string
