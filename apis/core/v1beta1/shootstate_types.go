// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ShootState holds what a new seed needs to take a shoot over.
type ShootState struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the state.
	// +optional
	Spec ShootStateSpec `json:"spec,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ShootStateList is a list of shoot states.
type ShootStateList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the shoot states.
	Items []ShootState `json:"items"`
}

// ShootStateSpec is the state of a shoot.
type ShootStateSpec struct {
	// Gardener holds what the gardenlet itself has to know, such as certificates and keys.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Gardener []GardenerResourceData `json:"gardener,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// Extensions holds what extensions have to know.
	// +optional
	Extensions []ExtensionResourceState `json:"extensions,omitempty"`
	// Resources holds objects that extensions refer to.
	// +optional
	Resources []ResourceData `json:"resources,omitempty"`
}

// GardenerResourceData is something that the gardenlet has to know.
type GardenerResourceData struct {
	// Name is the name of the object.
	Name string `json:"name"`
	// Type says how to read the data.
	Type string `json:"type"`
	// Data is the content.
	Data runtime.RawExtension `json:"data"`
	// Labels are the labels of the object.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

// ExtensionResourceState is the state of an extension object.
type ExtensionResourceState struct {
	// Kind is the kind of the extension object, such as Infrastructure.
	Kind string `json:"kind"`
	// Name is the name of the extension object.
	// +optional
	Name *string `json:"name,omitempty"`
	// Purpose tells extension objects of the same kind apart.
	// +optional
	Purpose *string `json:"purpose,omitempty"`
	// State is what the extension wrote down.
	// +optional
	State *runtime.RawExtension `json:"state,omitempty"`
	// Resources are the objects that the state refers to.
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty"`
}

// ResourceData is an object that a state refers to.
type ResourceData struct {
	// APIVersion is the group and version of the object.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind is the kind of the object.
	Kind string `json:"kind"`
	// Name is the name of the object.
	Name string `json:"name"`
	// Data is the object.
	Data runtime.RawExtension `json:"data"`
}
