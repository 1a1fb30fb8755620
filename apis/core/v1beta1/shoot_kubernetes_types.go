// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kubernetes holds the version and the settings of a cluster's components.
type Kubernetes struct {
	// Version is the Kubernetes version: complete, or major and minor for its newest patch; the newest supported
	// version when empty.
	// +optional
	Version string `json:"version,omitempty"`
	// ClusterAutoscaler holds settings of the component that adds and removes nodes.
	// +optional
	ClusterAutoscaler *ClusterAutoscaler `json:"clusterAutoscaler,omitempty"`
	// ETCD holds settings of the etcds.
	// +optional
	ETCD *ETCD `json:"etcd,omitempty"`
	// KubeAPIServer holds settings of the API server.
	// +optional
	KubeAPIServer *KubeAPIServerConfig `json:"kubeAPIServer,omitempty"`
	// KubeControllerManager holds settings of the controller manager.
	// +optional
	KubeControllerManager *KubeControllerManagerConfig `json:"kubeControllerManager,omitempty"`
	// KubeProxy holds settings of kube-proxy.
	// +optional
	KubeProxy *KubeProxyConfig `json:"kubeProxy,omitempty"`
	// KubeScheduler holds settings of the scheduler.
	// +optional
	KubeScheduler *KubeSchedulerConfig `json:"kubeScheduler,omitempty"`
	// Kubelet holds settings of the kubelets of all pools that have none of their own.
	// +optional
	Kubelet *KubeletConfig `json:"kubelet,omitempty"`
	// VerticalPodAutoscaler holds settings of the component that sizes pods.
	// +optional
	VerticalPodAutoscaler *VerticalPodAutoscaler `json:"verticalPodAutoscaler,omitempty"`
	// AllowPrivilegedContainers permitted privileged containers. Ignored; last used by Gardener v1.90.
	// +optional
	AllowPrivilegedContainers *bool `json:"allowPrivilegedContainers,omitempty"`
	// EnableStaticTokenKubeconfig asked for a kubeconfig with a fixed token. Ignored; last used by Gardener v1.121.
	// +optional
	EnableStaticTokenKubeconfig *bool `json:"enableStaticTokenKubeconfig,omitempty"`
}

// KubernetesConfig is what all Kubernetes components have in common.
type KubernetesConfig struct {
	// FeatureGates turns features on or off against their default.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// KubeControllerManagerConfig holds settings of a shoot's controller manager.
type KubeControllerManagerConfig struct {
	KubernetesConfig `json:",inline"`

	// HorizontalPodAutoscaler holds settings of the controller that adds and removes pods.
	// +optional
	HorizontalPodAutoscaler *HorizontalPodAutoscalerConfig `json:"horizontalPodAutoscaler,omitempty"`
	// NodeCIDRMaskSize is the prefix length of a node's range of pod addresses. Defaults to what fits maxPods.
	// +optional
	NodeCIDRMaskSize *int32 `json:"nodeCIDRMaskSize,omitempty"`
	// NodeCIDRMaskSizeIPv6 is the same for IPv6 in clusters with both families. Defaults to 64.
	// +optional
	NodeCIDRMaskSizeIPv6 *int32 `json:"nodeCIDRMaskSizeIPv6,omitempty"`
	// NodeMonitorGracePeriod is how long a node may be silent before it is not ready. Defaults to 40s.
	// +optional
	NodeMonitorGracePeriod *metav1.Duration `json:"nodeMonitorGracePeriod,omitempty"`
	// PodEvictionTimeout had an effect before Kubernetes 1.13 only; pods tolerate lost nodes instead.
	// +optional
	PodEvictionTimeout *metav1.Duration `json:"podEvictionTimeout,omitempty"`
}

// KubeSchedulerConfig holds settings of a shoot's scheduler.
type KubeSchedulerConfig struct {
	KubernetesConfig `json:",inline"`

	// KubeMaxPDVols is the number of volumes on a node.
	// +optional
	KubeMaxPDVols *string `json:"kubeMaxPDVols,omitempty"`
	// Profile is balanced or bin-packing. Defaults to balanced.
	// +optional
	Profile *SchedulingProfile `json:"profile,omitempty"`
}

// SchedulingProfile is a way of spreading pods.
type SchedulingProfile string

const (
	// SchedulingProfileBalanced spreads pods over nodes.
	SchedulingProfileBalanced SchedulingProfile = "balanced"
	// SchedulingProfileBinPacking fills nodes one after the other.
	SchedulingProfileBinPacking SchedulingProfile = "bin-packing"
)

// KubeProxyConfig holds settings of kube-proxy.
type KubeProxyConfig struct {
	KubernetesConfig `json:",inline"`

	// Enabled installs it; some network plugins do its work themselves. Defaults to true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Mode is how Services are made to work. Defaults to IPTables.
	// +optional
	Mode *ProxyMode `json:"mode,omitempty"`
}

// ProxyMode is how kube-proxy makes Services work.
type ProxyMode string

const (
	// ProxyModeIPTables uses iptables.
	ProxyModeIPTables ProxyMode = "IPTables"
	// ProxyModeNFTables uses nftables.
	ProxyModeNFTables ProxyMode = "NFTables"
	// ProxyModeIPVS uses IP virtual server.
	ProxyModeIPVS ProxyMode = "IPVS"
)

// ETCD holds settings of a shoot's etcds.
type ETCD struct {
	// Events holds those of the etcd of events.
	// +optional
	Events *ETCDConfig `json:"events,omitempty"`
	// Main holds those of the etcd of everything else.
	// +optional
	Main *ETCDConfig `json:"main,omitempty"`
}

// ETCDConfig holds settings of an etcd.
type ETCDConfig struct {
	// Autoscaling bounds its automatic sizing.
	// +optional
	Autoscaling *ControlPlaneAutoscaling `json:"autoscaling,omitempty"`
}
