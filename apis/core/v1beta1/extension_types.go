// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Extension has its documentation written later.
type Extension struct {
	Type string `json:"type"`
	// +optional
	Disabled *bool `json:"disabled,omitempty"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}

// NamedResourceReference has its documentation written later.
type NamedResourceReference struct {
	Name        string                                    `json:"name"`
	ResourceRef autoscalingv1.CrossVersionObjectReference `json:"resourceRef"`
}
