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
	Version string `json:"version,omitempty" protobuf:"bytes,8,opt,name=version"`
	// ClusterAutoscaler holds settings of the component that adds and removes nodes.
	// +optional
	ClusterAutoscaler *ClusterAutoscaler `json:"clusterAutoscaler,omitempty" protobuf:"bytes,2,opt,name=clusterAutoscaler"`
	// ETCD holds settings of the etcds.
	// +optional
	ETCD *ETCD `json:"etcd,omitempty" protobuf:"bytes,11,opt,name=etcd"`
	// KubeAPIServer holds settings of the API server.
	// +optional
	KubeAPIServer *KubeAPIServerConfig `json:"kubeAPIServer,omitempty" protobuf:"bytes,3,opt,name=kubeAPIServer"`
	// KubeControllerManager holds settings of the controller manager.
	// +optional
	KubeControllerManager *KubeControllerManagerConfig `json:"kubeControllerManager,omitempty" protobuf:"bytes,4,opt,name=kubeControllerManager"`
	// KubeProxy holds settings of kube-proxy.
	// +optional
	KubeProxy *KubeProxyConfig `json:"kubeProxy,omitempty" protobuf:"bytes,6,opt,name=kubeProxy"`
	// KubeScheduler holds settings of the scheduler.
	// +optional
	KubeScheduler *KubeSchedulerConfig `json:"kubeScheduler,omitempty" protobuf:"bytes,5,opt,name=kubeScheduler"`
	// Kubelet holds settings of the kubelets of all pools that have none of their own.
	// +optional
	Kubelet *KubeletConfig `json:"kubelet,omitempty" protobuf:"bytes,7,opt,name=kubelet"`
	// VerticalPodAutoscaler holds settings of the component that sizes pods.
	// +optional
	VerticalPodAutoscaler *VerticalPodAutoscaler `json:"verticalPodAutoscaler,omitempty" protobuf:"bytes,9,opt,name=verticalPodAutoscaler"`
	// AllowPrivilegedContainers permitted privileged containers. Ignored; last used by Gardener v1.90.
	// +optional
	AllowPrivilegedContainers *bool `json:"allowPrivilegedContainers,omitempty" protobuf:"varint,1001,opt,name=allowPrivilegedContainers"`
	// EnableStaticTokenKubeconfig asked for a kubeconfig with a fixed token. Ignored; last used by Gardener v1.121.
	// +optional
	EnableStaticTokenKubeconfig *bool `json:"enableStaticTokenKubeconfig,omitempty" protobuf:"varint,1002,opt,name=enableStaticTokenKubeconfig"`
}

// KubernetesConfig is what all Kubernetes components have in common.
type KubernetesConfig struct {
	// FeatureGates enables or disables features.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty" protobuf:"bytes,1,rep,name=featureGates"`
}

// KubeControllerManagerConfig holds settings of a shoot's controller manager.
type KubeControllerManagerConfig struct {
	KubernetesConfig `json:",inline" protobuf:"bytes,1,opt,name=kubernetesConfig"`

	// HorizontalPodAutoscaler holds settings of the controller that adds and removes pods.
	// +optional
	HorizontalPodAutoscaler *HorizontalPodAutoscalerConfig `json:"horizontalPodAutoscaler,omitempty" protobuf:"bytes,2,opt,name=horizontalPodAutoscaler"`
	// NodeCIDRMaskSize is the prefix length of a node's range of pod addresses. Defaults to what fits maxPods.
	// +optional
	NodeCIDRMaskSize *int32 `json:"nodeCIDRMaskSize,omitempty" protobuf:"varint,3,opt,name=nodeCIDRMaskSize"`
	// NodeCIDRMaskSizeIPv6 is the same for IPv6 in clusters with both families. Defaults to 64.
	// +optional
	NodeCIDRMaskSizeIPv6 *int32 `json:"nodeCIDRMaskSizeIPv6,omitempty" protobuf:"varint,6,opt,name=nodeCIDRMaskSizeIPv6"`
	// NodeMonitorGracePeriod is how long a node may be unresponsive before it is marked not ready. Defaults to 40s.
	// +optional
	NodeMonitorGracePeriod *metav1.Duration `json:"nodeMonitorGracePeriod,omitempty" protobuf:"bytes,5,opt,name=nodeMonitorGracePeriod"`
	// PodEvictionTimeout had an effect before Kubernetes 1.13 only; tolerations of pods replace it.
	// +optional
	PodEvictionTimeout *metav1.Duration `json:"podEvictionTimeout,omitempty" protobuf:"bytes,4,opt,name=podEvictionTimeout"`
}

// KubeSchedulerConfig holds settings of a shoot's scheduler.
type KubeSchedulerConfig struct {
	KubernetesConfig `json:",inline" protobuf:"bytes,1,opt,name=kubernetesConfig"`

	// KubeMaxPDVols is the number of volumes on a node.
	// +optional
	KubeMaxPDVols *string `json:"kubeMaxPDVols,omitempty" protobuf:"bytes,2,opt,name=kubeMaxPDVols"`
	// Profile is balanced or bin-packing. Defaults to balanced.
	// +optional
	Profile *SchedulingProfile `json:"profile,omitempty" protobuf:"bytes,3,opt,name=profile"`
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
	KubernetesConfig `json:",inline" protobuf:"bytes,1,opt,name=kubernetesConfig"`

	// Enabled installs it; some network plugins replace it. Defaults to true.
	// +optional
	Enabled *bool `json:"enabled,omitempty" protobuf:"varint,3,opt,name=enabled"`
	// Mode is the mode of kube-proxy. Defaults to IPTables.
	// +optional
	Mode *ProxyMode `json:"mode,omitempty" protobuf:"bytes,2,opt,name=mode"`
}

// ProxyMode is the mode of kube-proxy.
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
	Events *ETCDConfig `json:"events,omitempty" protobuf:"bytes,2,opt,name=events"`
	// Main holds those of the etcd of everything else.
	// +optional
	Main *ETCDConfig `json:"main,omitempty" protobuf:"bytes,1,opt,name=main"`
}

// ETCDConfig holds settings of an etcd.
type ETCDConfig struct {
	// Autoscaling limits its automatic sizing.
	// +optional
	Autoscaling *ControlPlaneAutoscaling `json:"autoscaling,omitempty" protobuf:"bytes,1,opt,name=autoscaling"`
}
