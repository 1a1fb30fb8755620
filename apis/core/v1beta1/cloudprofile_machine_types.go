// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MachineType has its documentation written later.
type MachineType struct {
	Name   string            `json:"name"`
	CPU    resource.Quantity `json:"cpu"`
	GPU    resource.Quantity `json:"gpu"`
	Memory resource.Quantity `json:"memory"`
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// +optional
	Capabilities Capabilities `json:"capabilities,omitempty"`
	// +optional
	MachineControllerManager *CloudProfileMachineControllerManagerSettings `json:"machineControllerManager,omitempty"`
	// +optional
	Storage *MachineTypeStorage `json:"storage,omitempty"`
	// +optional
	Usable *bool `json:"usable,omitempty"`
}

// MachineTypeStorage has its documentation written later.
type MachineTypeStorage struct {
	Type  string `json:"type"`
	Class string `json:"class"`
	// +optional
	MinSize *resource.Quantity `json:"minSize,omitempty"`
	// +optional
	Size *resource.Quantity `json:"size,omitempty"`
}

// CloudProfileMachineControllerManagerSettings has its documentation written later.
type CloudProfileMachineControllerManagerSettings struct {
	// +optional
	MachineCreationTimeout *metav1.Duration `json:"machineCreationTimeout,omitempty"`
}

// MachineImage has its documentation written later.
type MachineImage struct {
	Name string `json:"name"`
	// +patchStrategy=merge
	// +patchMergeKey=version
	Versions []MachineImageVersion `json:"versions" patchStrategy:"merge" patchMergeKey:"version"`
	// +optional
	UpdateStrategy *MachineImageUpdateStrategy `json:"updateStrategy,omitempty"`
}

// MachineImageUpdateStrategy has its documentation written later.
type MachineImageUpdateStrategy string

const (
	// MachineImageUpdateStrategyPatch stands for patch.
	MachineImageUpdateStrategyPatch MachineImageUpdateStrategy = "patch"
	// MachineImageUpdateStrategyMinor stands for minor.
	MachineImageUpdateStrategyMinor MachineImageUpdateStrategy = "minor"
	// MachineImageUpdateStrategyMajor stands for major.
	MachineImageUpdateStrategyMajor MachineImageUpdateStrategy = "major"
)

// MachineImageVersion has its documentation written later.
type MachineImageVersion struct {
	ExpirableVersion `json:",inline"`
	// +optional
	Architectures []string `json:"architectures,omitempty"`
	// +optional
	CapabilityFlavors []MachineImageFlavor `json:"capabilityFlavors,omitempty"`
	// +optional
	CRI []CRI `json:"cri,omitempty"`
	// +optional
	InPlaceUpdates *InPlaceUpdates `json:"inPlaceUpdates,omitempty"`
	// +optional
	KubeletVersionConstraint *string `json:"kubeletVersionConstraint,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.127.
	// +optional
	CapabilitySets []CapabilitySet `json:"capabilitySets,omitempty"`
}

// InPlaceUpdates has its documentation written later.
type InPlaceUpdates struct {
	Supported bool `json:"supported"`
	// +optional
	MinVersionForUpdate *string `json:"minVersionForUpdate,omitempty"`
}

// CapabilityDefinition has its documentation written later.
type CapabilityDefinition struct {
	Name   string           `json:"name"`
	Values CapabilityValues `json:"values"`
}

// MachineImageFlavor has its documentation written later.
type MachineImageFlavor map[string]CapabilityValues

// CapabilitySet has its documentation written later.
type CapabilitySet map[string]CapabilityValues

// Capabilities maps a capability to the values it may take.
type Capabilities map[string]CapabilityValues

// CapabilityValues are the values of one capability.
type CapabilityValues []string
