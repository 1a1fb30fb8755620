// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kubernetes has its documentation written later.
type Kubernetes struct {
	// +optional
	Version string `json:"version,omitempty"`
	// +optional
	ClusterAutoscaler *ClusterAutoscaler `json:"clusterAutoscaler,omitempty"`
	// +optional
	ETCD *ETCD `json:"etcd,omitempty"`
	// +optional
	KubeAPIServer *KubeAPIServerConfig `json:"kubeAPIServer,omitempty"`
	// +optional
	KubeControllerManager *KubeControllerManagerConfig `json:"kubeControllerManager,omitempty"`
	// +optional
	KubeProxy *KubeProxyConfig `json:"kubeProxy,omitempty"`
	// +optional
	KubeScheduler *KubeSchedulerConfig `json:"kubeScheduler,omitempty"`
	// +optional
	Kubelet *KubeletConfig `json:"kubelet,omitempty"`
	// +optional
	VerticalPodAutoscaler *VerticalPodAutoscaler `json:"verticalPodAutoscaler,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.90.
	// +optional
	AllowPrivilegedContainers *bool `json:"allowPrivilegedContainers,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.121.
	// +optional
	EnableStaticTokenKubeconfig *bool `json:"enableStaticTokenKubeconfig,omitempty"`
}

// KubernetesConfig has its documentation written later.
type KubernetesConfig struct {
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
}

// KubeControllerManagerConfig has its documentation written later.
type KubeControllerManagerConfig struct {
	KubernetesConfig `json:",inline"`
	// +optional
	HorizontalPodAutoscaler *HorizontalPodAutoscalerConfig `json:"horizontalPodAutoscaler,omitempty"`
	// +optional
	NodeCIDRMaskSize *int32 `json:"nodeCIDRMaskSize,omitempty"`
	// +optional
	NodeCIDRMaskSizeIPv6 *int32 `json:"nodeCIDRMaskSizeIPv6,omitempty"`
	// +optional
	NodeMonitorGracePeriod *metav1.Duration `json:"nodeMonitorGracePeriod,omitempty"`
	// +optional
	PodEvictionTimeout *metav1.Duration `json:"podEvictionTimeout,omitempty"`
}

// KubeSchedulerConfig has its documentation written later.
type KubeSchedulerConfig struct {
	KubernetesConfig `json:",inline"`
	// +optional
	KubeMaxPDVols *string `json:"kubeMaxPDVols,omitempty"`
	// +optional
	Profile *SchedulingProfile `json:"profile,omitempty"`
}

// SchedulingProfile has its documentation written later.
type SchedulingProfile string

const (
	// SchedulingProfileBalanced stands for balanced.
	SchedulingProfileBalanced SchedulingProfile = "balanced"
	// SchedulingProfileBinPacking stands for bin-packing.
	SchedulingProfileBinPacking SchedulingProfile = "bin-packing"
)

// KubeProxyConfig has its documentation written later.
type KubeProxyConfig struct {
	KubernetesConfig `json:",inline"`
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// +optional
	Mode *ProxyMode `json:"mode,omitempty"`
}

// ProxyMode has its documentation written later.
type ProxyMode string

const (
	// ProxyModeIPTables stands for IPTables.
	ProxyModeIPTables ProxyMode = "IPTables"
	// ProxyModeNFTables stands for NFTables.
	ProxyModeNFTables ProxyMode = "NFTables"
	// ProxyModeIPVS stands for IPVS.
	ProxyModeIPVS ProxyMode = "IPVS"
)

// ETCD has its documentation written later.
type ETCD struct {
	// +optional
	Events *ETCDConfig `json:"events,omitempty"`
	// +optional
	Main *ETCDConfig `json:"main,omitempty"`
}

// ETCDConfig has its documentation written later.
type ETCDConfig struct {
	// +optional
	Autoscaling *ControlPlaneAutoscaling `json:"autoscaling,omitempty"`
}
