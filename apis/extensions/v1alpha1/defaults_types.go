// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// +kubebuilder:validation:XValidation:rule="(has(self.class) ? self.class : 'shoot') == (has(oldSelf.class) ? oldSelf.class : 'shoot')",message="the class of an extension object cannot change"
// +kubebuilder:validation:XValidation:rule="!has(self.class) || self.class in ['garden', 'seed', 'shoot']",message="the class must be garden, seed or shoot"

// DefaultSpec holds the fields that the spec of every extension kind has.
type DefaultSpec struct {
	// Type is the type of the resource; the extension controller for it is determined by kind and type. It never changes.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the type of an extension object cannot change"
	Type string `json:"type"`
	// Class says what the resource serves: the garden, a seed or a shoot. It never changes; shoot when unset.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the class of an extension object cannot change"
	// +optional
	Class *ExtensionClass `json:"class,omitempty"`
	// ProviderConfig is configuration that only the extension controller understands.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}

// DefaultStatus holds the fields that the status of every extension kind has.
type DefaultStatus struct {
	// ProviderStatus is status that only the extension controller and other components of the same provider
	// understand.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	ProviderStatus *runtime.RawExtension `json:"providerStatus,omitempty"`
	// Conditions report the health of what the extension provides.
	// +optional
	Conditions []gardencorev1beta1.Condition `json:"conditions,omitempty"`
	// LastError is the error of the last operation; unset after a success.
	// +optional
	LastError *gardencorev1beta1.LastError `json:"lastError,omitempty"`
	// LastOperation is the last operation of the extension controller and its result.
	// +optional
	LastOperation *gardencorev1beta1.LastOperation `json:"lastOperation,omitempty"`
	// ObservedGeneration is the newest generation of the resource that the controller has acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// State is what the controller needs to take over on another seed; it is copied when a control plane moves.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	State *runtime.RawExtension `json:"state,omitempty"`
	// Resources are objects in the same namespace that belong to the state and move with it.
	// +optional
	Resources []gardencorev1beta1.NamedResourceReference `json:"resources,omitempty"`
}

// ExtensionClass says what kind of cluster an extension object serves.
type ExtensionClass string

const (
	// ExtensionClassGarden is the class of objects for the runtime cluster of the garden.
	ExtensionClassGarden ExtensionClass = "garden"
	// ExtensionClassSeed is the class of objects for a seed.
	ExtensionClassSeed ExtensionClass = "seed"
	// ExtensionClassShoot is the class of objects for a shoot, also meant when no class is given.
	ExtensionClassShoot ExtensionClass = "shoot"
)
