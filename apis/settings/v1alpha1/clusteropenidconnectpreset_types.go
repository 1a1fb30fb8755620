// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ClusterOpenIDConnectPreset holds settings of OpenID Connect for new shoots of many projects.
type ClusterOpenIDConnectPreset struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says what is preset, and for which shoots.
	Spec ClusterOpenIDConnectPresetSpec `json:"spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ClusterOpenIDConnectPresetList is a list of presets.
type ClusterOpenIDConnectPresetList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the presets.
	Items []ClusterOpenIDConnectPreset `json:"items"`
}

// ClusterOpenIDConnectPresetSpec says what is preset, and for which shoots of which projects.
type ClusterOpenIDConnectPresetSpec struct {
	OpenIDConnectPresetSpec `json:",inline"`

	// ProjectSelector picks the projects whose shoots the preset is for; without one it is for all.
	// +optional
	ProjectSelector *metav1.LabelSelector `json:"projectSelector,omitempty"`
}
