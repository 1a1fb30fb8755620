// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
)

// Addons has its documentation written later.
type Addons struct {
	// +optional
	KubernetesDashboard *KubernetesDashboard `json:"kubernetesDashboard,omitempty"`
	// +optional
	NginxIngress *NginxIngress `json:"nginxIngress,omitempty"`
}

// KubernetesDashboard has its documentation written later.
type KubernetesDashboard struct {
	Addon `json:",inline"`
	// +optional
	AuthenticationMode *string `json:"authenticationMode,omitempty"`
}

// NginxIngress has its documentation written later.
type NginxIngress struct {
	Addon `json:",inline"`
	// +optional
	Config map[string]string `json:"config,omitempty"`
	// +optional
	ExternalTrafficPolicy *corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// +optional
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`
}

// Addon has its documentation written later.
type Addon struct {
	Enabled bool `json:"enabled"`
}
