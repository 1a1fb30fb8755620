// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ShootState holds what a new seed needs to take over a shoot.
type ShootState struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec is the state.
	// +optional
	Spec ShootStateSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ShootStateList is a list of shoot states.
type ShootStateList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the shoot states.
	Items []ShootState `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ShootStateSpec is the state of a shoot.
type ShootStateSpec struct {
	// Gardener holds the data of the gardenlet itself, such as certificates and keys.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Gardener []GardenerResourceData `json:"gardener,omitempty" protobuf:"bytes,1,rep,name=gardener" patchStrategy:"merge" patchMergeKey:"name"`
	// Extensions holds the data of extensions.
	// +optional
	Extensions []ExtensionResourceState `json:"extensions,omitempty" protobuf:"bytes,2,rep,name=extensions"`
	// Resources holds objects that extensions refer to.
	// +optional
	Resources []ResourceData `json:"resources,omitempty" protobuf:"bytes,3,rep,name=resources"`
}

// GardenerResourceData is data of the gardenlet.
type GardenerResourceData struct {
	// Name is the name of the object.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// Type says how to read the data.
	Type string `json:"type" protobuf:"bytes,2,opt,name=type"`
	// Data is the content.
	Data runtime.RawExtension `json:"data" protobuf:"bytes,3,opt,name=data"`
	// Labels are the labels of the object.
	// +optional
	Labels map[string]string `json:"labels,omitempty" protobuf:"bytes,4,rep,name=labels"`
}

// ExtensionResourceState is the state of an extension object.
type ExtensionResourceState struct {
	// Kind is the kind of the extension object, such as Infrastructure.
	Kind string `json:"kind" protobuf:"bytes,1,opt,name=kind"`
	// Name is the name of the extension object.
	// +optional
	Name *string `json:"name,omitempty" protobuf:"bytes,2,opt,name=name"`
	// Purpose distinguishes extension objects of the same kind.
	// +optional
	Purpose *string `json:"purpose,omitempty" protobuf:"bytes,3,opt,name=purpose"`
	// State is the state that the extension wrote.
	// +optional
	State *runtime.RawExtension `json:"state,omitempty" protobuf:"bytes,4,opt,name=state"`
	// Resources are the objects that the state refers to.
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty" protobuf:"bytes,5,rep,name=resources"`
}

// ResourceData is an object that a state refers to.
type ResourceData struct {
	// The reference names the object by kind, name and apiVersion.
	autoscalingv1.CrossVersionObjectReference `json:",inline" protobuf:"bytes,1,opt,name=ref"`

	// Data is the object.
	Data runtime.RawExtension `json:"data" protobuf:"bytes,2,opt,name=data"`
}
