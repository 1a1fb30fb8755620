// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Extension asks for an extension of a given type.
type Extension struct {
	// Type is the type of the extension.
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
	// Disabled disables an extension that is enabled by default.
	// +optional
	Disabled *bool `json:"disabled,omitempty" protobuf:"varint,3,opt,name=disabled"`
	// ProviderConfig is configuration that only the extension understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,2,opt,name=providerConfig"`
}

// NamedResourceReference gives a name to an object, so that a provider config can refer to it.
type NamedResourceReference struct {
	// Name is the name by which the object is referred to.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// ResourceRef is the object, in the same namespace.
	ResourceRef autoscalingv1.CrossVersionObjectReference `json:"resourceRef" protobuf:"bytes,2,opt,name=resourceRef"`
}
