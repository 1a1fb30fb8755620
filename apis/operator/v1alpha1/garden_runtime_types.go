// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// RuntimeCluster describes where the garden runs.
type RuntimeCluster struct {
	// Ingress says how services of the garden are reached by name.
	Ingress Ingress `json:"ingress,omitzero"`
	// Networking are the address ranges of the cluster.
	Networking RuntimeNetworking `json:"networking,omitzero"`
	// Provider says where the cluster runs.
	Provider Provider `json:"provider"`
	// Settings enables and disables features of the cluster.
	// +optional
	Settings *Settings `json:"settings,omitempty"`
	// Volume limits the volumes of the garden.
	// +optional
	Volume *Volume `json:"volume,omitempty"`
}

// Ingress says how services of the garden are reached by name.
type Ingress struct {
	// Controller is the ingress controller.
	Controller gardencorev1beta1.IngressController `json:"controller"`
	// Domains are the domains under which the names are made. The first one never changes.
	// +optional
	Domains []DNSDomain `json:"domains,omitempty"`
}

// RuntimeNetworking are the address ranges of the cluster that the garden runs on. Ranges are only ever added.
type RuntimeNetworking struct {
	// Pods are the ranges of pod addresses in CIDR notation.
	// +required
	Pods []string `json:"pods,omitempty"`
	// Services are the ranges of Service addresses in CIDR notation.
	// +required
	Services []string `json:"services,omitempty"`
	// BlockCIDRs are ranges that the garden cannot reach.
	// +optional
	BlockCIDRs []string `json:"blockCIDRs,omitempty"`
	// IPFamilies are the families of addresses. Defaults to IPv4.
	// +optional
	IPFamilies []gardencorev1beta1.IPFamily `json:"ipFamilies,omitempty"`
	// Nodes are the ranges of node addresses in CIDR notation.
	// +optional
	Nodes []string `json:"nodes,omitempty"`
}

// Provider says where the cluster runs.
type Provider struct {
	// Region is the region of the cluster.
	// +optional
	Region *string `json:"region,omitempty"`
	// Zones are the availability zones of the cluster.
	// +optional
	Zones []string `json:"zones,omitempty"`
}

// Settings enables and disables features of the cluster under a garden.
type Settings struct {
	// LoadBalancerServices holds settings of Services of type LoadBalancer.
	// +optional
	LoadBalancerServices *SettingLoadBalancerServices `json:"loadBalancerServices,omitempty"`
	// PersistentVolumeClaimAutoscaler says whether volumes grow automatically.
	// +optional
	PersistentVolumeClaimAutoscaler *SettingPersistentVolumeClaimAutoscaler `json:"persistentVolumeClaimAutoscaler,omitempty"`
	// TopologyAwareRouting says whether traffic stays within a zone.
	// +optional
	TopologyAwareRouting *SettingTopologyAwareRouting `json:"topologyAwareRouting,omitempty"`
	// VerticalPodAutoscaler says whether the garden installs the component that sizes pods.
	// +optional
	VerticalPodAutoscaler *SettingVerticalPodAutoscaler `json:"verticalPodAutoscaler,omitempty"`
}

// SettingLoadBalancerServices holds settings of Services of type LoadBalancer.
type SettingLoadBalancerServices struct {
	// Annotations are put on each of the Services.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// ExternalTrafficPolicy is Cluster or Local.
	// +optional
	ExternalTrafficPolicy *corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// ProxyProtocol says whether load balancers may use the PROXY protocol.
	// +optional
	ProxyProtocol *LoadBalancerServicesProxyProtocol `json:"proxyProtocol,omitempty"`
}

// LoadBalancerServicesProxyProtocol says whether load balancers may use the PROXY protocol.
type LoadBalancerServicesProxyProtocol struct {
	// Allowed allows the PROXY protocol.
	Allowed bool `json:"allowed"`
}

// SettingPersistentVolumeClaimAutoscaler says whether volumes grow automatically.
type SettingPersistentVolumeClaimAutoscaler struct {
	// Enabled enlarges them.
	Enabled bool `json:"enabled"`
}

// SettingTopologyAwareRouting says whether traffic stays within a zone.
type SettingTopologyAwareRouting struct {
	// Enabled keeps it there.
	Enabled bool `json:"enabled"`
}

// SettingVerticalPodAutoscaler says whether the garden installs the component that sizes pods.
type SettingVerticalPodAutoscaler struct {
	// Enabled installs it. Defaults to true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// FeatureGates enables or disables its features.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// MaxAllowed limits what it may recommend for a container.
	// +optional
	MaxAllowed corev1.ResourceList `json:"maxAllowed,omitempty"`
}

// Volume limits the volumes of the garden.
type Volume struct {
	// MinimumSize is the least size of a volume.
	// +optional
	MinimumSize *resource.Quantity `json:"minimumSize,omitempty"`
}
