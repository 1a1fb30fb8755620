// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Addons are optional components inside a shoot, for evaluation only.
type Addons struct {
	// KubernetesDashboard is the dashboard.
	// +optional
	KubernetesDashboard *KubernetesDashboard `json:"kubernetesDashboard,omitempty" protobuf:"bytes,1,opt,name=kubernetesDashboard"`
	// NginxIngress is an ingress controller.
	// +optional
	NginxIngress *NginxIngress `json:"nginxIngress,omitempty" protobuf:"bytes,2,opt,name=nginxIngress"`
}

// KubernetesDashboard is the dashboard addon.
type KubernetesDashboard struct {
	Addon `json:",inline" protobuf:"bytes,2,opt,name=addon"`

	// AuthenticationMode is how users log in; only token is known. Defaults to token.
	// +optional
	AuthenticationMode *string `json:"authenticationMode,omitempty" protobuf:"bytes,1,opt,name=authenticationMode"`
}

// NginxIngress is the ingress controller addon.
type NginxIngress struct {
	Addon `json:",inline" protobuf:"bytes,1,opt,name=addon"`

	// Config is put into the controller's config map.
	// +optional
	Config map[string]string `json:"config,omitempty" protobuf:"bytes,3,rep,name=config"`
	// ExternalTrafficPolicy is Cluster or Local. Defaults to Cluster.
	// +optional
	ExternalTrafficPolicy *ExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty" protobuf:"bytes,4,opt,name=externalTrafficPolicy"`
	// LoadBalancerSourceRanges are the networks from which the load balancer takes traffic; all when empty.
	// +optional
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty" protobuf:"bytes,2,rep,name=loadBalancerSourceRanges"`
}

// Addon is what all addons have in common.
type Addon struct {
	// Enabled enables the addon.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}
