// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// CRI has its documentation written later.
type CRI struct {
	Name CRIName `json:"name"`
	// +optional
	ContainerRuntimes []ContainerRuntime `json:"containerRuntimes,omitempty"`
}

// CRIName has its documentation written later.
type CRIName string

const (
	// CRINameContainerd stands for containerd.
	CRINameContainerd CRIName = "containerd"
)

// ContainerRuntime has its documentation written later.
type ContainerRuntime struct {
	Type string `json:"type"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}
