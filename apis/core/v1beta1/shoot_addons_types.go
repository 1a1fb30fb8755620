// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Addons are components inside a shoot that users may ask for; meant for trials.
type Addons struct {
	// KubernetesDashboard is the dashboard.
	// +optional
	KubernetesDashboard *KubernetesDashboard `json:"kubernetesDashboard,omitempty"`
	// NginxIngress is an ingress controller.
	// +optional
	NginxIngress *NginxIngress `json:"nginxIngress,omitempty"`
}

// KubernetesDashboard is the dashboard addon.
type KubernetesDashboard struct {
	Addon `json:",inline"`

	// AuthenticationMode is how users log in; only token is known. Defaults to token.
	// +optional
	AuthenticationMode *string `json:"authenticationMode,omitempty"`
}

// NginxIngress is the ingress controller addon.
type NginxIngress struct {
	Addon `json:",inline"`

	// Config is put into the controller's config map.
	// +optional
	Config map[string]string `json:"config,omitempty"`
	// ExternalTrafficPolicy is Cluster or Local. Defaults to Cluster.
	// +optional
	ExternalTrafficPolicy *ExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// LoadBalancerSourceRanges are the networks from which the load balancer takes traffic; all when empty.
	// +optional
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`
}

// Addon is what all addons have in common.
type Addon struct {
	// Enabled turns the addon on.
	Enabled bool `json:"enabled"`
}
