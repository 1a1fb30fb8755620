// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// CRI is the container runtime of a machine.
type CRI struct {
	// Name is the runtime; containerd is the only one.
	Name CRIName `json:"name" protobuf:"bytes,1,opt,name=name"`
	// ContainerRuntimes are further runtimes beneath it, for instance for sandboxes.
	// +optional
	ContainerRuntimes []ContainerRuntime `json:"containerRuntimes,omitempty" protobuf:"bytes,2,rep,name=containerRuntimes"`
}

// CRIName is the name of a container runtime.
type CRIName string

const (
	// CRINameContainerd is the containerd runtime.
	CRINameContainerd CRIName = "containerd"
)

// ContainerRuntime is a further runtime on a machine.
type ContainerRuntime struct {
	// Type is the type of the runtime.
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
	// ProviderConfig is configuration that only the extension of this runtime understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,2,opt,name=providerConfig"`
}
