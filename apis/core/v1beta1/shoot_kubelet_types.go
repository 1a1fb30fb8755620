// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KubeletConfig has its documentation written later.
type KubeletConfig struct {
	KubernetesConfig `json:",inline"`
	// +optional
	ContainerLogMaxFiles *int32 `json:"containerLogMaxFiles,omitempty"`
	// +optional
	ContainerLogMaxSize *resource.Quantity `json:"containerLogMaxSize,omitempty"`
	// +optional
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`
	// +optional
	CPUManagerPolicy *string `json:"cpuManagerPolicy,omitempty"`
	// +optional
	EvictionHard *KubeletConfigEviction `json:"evictionHard,omitempty"`
	// +optional
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// +optional
	EvictionMinimumReclaim *KubeletConfigEvictionMinimumReclaim `json:"evictionMinimumReclaim,omitempty"`
	// +optional
	EvictionPressureTransitionPeriod *metav1.Duration `json:"evictionPressureTransitionPeriod,omitempty"`
	// +optional
	EvictionSoft *KubeletConfigEviction `json:"evictionSoft,omitempty"`
	// +optional
	EvictionSoftGracePeriod *KubeletConfigEvictionSoftGracePeriod `json:"evictionSoftGracePeriod,omitempty"`
	// +optional
	FailSwapOn *bool `json:"failSwapOn,omitempty"`
	// +optional
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`
	// +optional
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`
	// +optional
	ImageMaximumGCAge *metav1.Duration `json:"imageMaximumGCAge,omitempty"`
	// +optional
	ImageMinimumGCAge *metav1.Duration `json:"imageMinimumGCAge,omitempty"`
	// +optional
	ImagePullCredentialsVerificationPolicy *ImagePullCredentialsVerificationPolicy `json:"imagePullCredentialsVerificationPolicy,omitempty"`
	// +optional
	KubeReserved *KubeletConfigReserved `json:"kubeReserved,omitempty"`
	// +optional
	MaxParallelImagePulls *int32 `json:"maxParallelImagePulls,omitempty"`
	// +optional
	MaxPods *int32 `json:"maxPods,omitempty"`
	// +optional
	MemorySwap *MemorySwapConfiguration `json:"memorySwap,omitempty"`
	// +optional
	PodPIDsLimit *int64 `json:"podPidsLimit,omitempty"`
	// +optional
	PreloadedImagesVerificationAllowlist []string `json:"preloadedImagesVerificationAllowlist,omitempty"`
	// +optional
	ProtectKernelDefaults *bool `json:"protectKernelDefaults,omitempty"`
	// +optional
	RegistryBurst *int32 `json:"registryBurst,omitempty"`
	// +optional
	RegistryPullQPS *int32 `json:"registryPullQPS,omitempty"`
	// +optional
	SeccompDefault *bool `json:"seccompDefault,omitempty"`
	// +optional
	SerializeImagePulls *bool `json:"serializeImagePulls,omitempty"`
	// +optional
	SingleProcessOOMKill *bool `json:"singleProcessOOMKill,omitempty"`
	// +optional
	StreamingConnectionIdleTimeout *metav1.Duration `json:"streamingConnectionIdleTimeout,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.88.
	// +optional
	ImagePullProgressDeadline *metav1.Duration `json:"imagePullProgressDeadline,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.140.
	// +optional
	SystemReserved *KubeletConfigReserved `json:"systemReserved,omitempty"`
}

// ImagePullCredentialsVerificationPolicy has its documentation written later.
type ImagePullCredentialsVerificationPolicy string

const (
	// ImagePullCredentialsVerificationPolicyNeverVerify stands for NeverVerify.
	ImagePullCredentialsVerificationPolicyNeverVerify ImagePullCredentialsVerificationPolicy = "NeverVerify"
	// ImagePullCredentialsVerificationPolicyNeverVerifyPreloadedImages stands for NeverVerifyPreloadedImages.
	ImagePullCredentialsVerificationPolicyNeverVerifyPreloadedImages ImagePullCredentialsVerificationPolicy = "NeverVerifyPreloadedImages"
	// ImagePullCredentialsVerificationPolicyNeverVerifyAllowlistedImages stands for NeverVerifyAllowlistedImages.
	ImagePullCredentialsVerificationPolicyNeverVerifyAllowlistedImages ImagePullCredentialsVerificationPolicy = "NeverVerifyAllowlistedImages"
	// ImagePullCredentialsVerificationPolicyAlwaysVerify stands for AlwaysVerify.
	ImagePullCredentialsVerificationPolicyAlwaysVerify ImagePullCredentialsVerificationPolicy = "AlwaysVerify"
)

// KubeletConfigEviction has its documentation written later.
type KubeletConfigEviction struct {
	// +optional
	ImageFSAvailable *string `json:"imageFSAvailable,omitempty"`
	// +optional
	ImageFSInodesFree *string `json:"imageFSInodesFree,omitempty"`
	// +optional
	MemoryAvailable *string `json:"memoryAvailable,omitempty"`
	// +optional
	NodeFSAvailable *string `json:"nodeFSAvailable,omitempty"`
	// +optional
	NodeFSInodesFree *string `json:"nodeFSInodesFree,omitempty"`
}

// KubeletConfigEvictionMinimumReclaim has its documentation written later.
type KubeletConfigEvictionMinimumReclaim struct {
	// +optional
	ImageFSAvailable *resource.Quantity `json:"imageFSAvailable,omitempty"`
	// +optional
	ImageFSInodesFree *resource.Quantity `json:"imageFSInodesFree,omitempty"`
	// +optional
	MemoryAvailable *resource.Quantity `json:"memoryAvailable,omitempty"`
	// +optional
	NodeFSAvailable *resource.Quantity `json:"nodeFSAvailable,omitempty"`
	// +optional
	NodeFSInodesFree *resource.Quantity `json:"nodeFSInodesFree,omitempty"`
}

// KubeletConfigEvictionSoftGracePeriod has its documentation written later.
type KubeletConfigEvictionSoftGracePeriod struct {
	// +optional
	ImageFSAvailable *metav1.Duration `json:"imageFSAvailable,omitempty"`
	// +optional
	ImageFSInodesFree *metav1.Duration `json:"imageFSInodesFree,omitempty"`
	// +optional
	MemoryAvailable *metav1.Duration `json:"memoryAvailable,omitempty"`
	// +optional
	NodeFSAvailable *metav1.Duration `json:"nodeFSAvailable,omitempty"`
	// +optional
	NodeFSInodesFree *metav1.Duration `json:"nodeFSInodesFree,omitempty"`
}

// KubeletConfigReserved has its documentation written later.
type KubeletConfigReserved struct {
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`
	// +optional
	EphemeralStorage *resource.Quantity `json:"ephemeralStorage,omitempty"`
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
	// +optional
	PID *resource.Quantity `json:"pid,omitempty"`
}

// MemorySwapConfiguration has its documentation written later.
type MemorySwapConfiguration struct {
	// +optional
	SwapBehavior *SwapBehavior `json:"swapBehavior,omitempty"`
}

// SwapBehavior has its documentation written later.
type SwapBehavior string

const (
	// SwapBehaviorNoSwap stands for NoSwap.
	SwapBehaviorNoSwap SwapBehavior = "NoSwap"
	// SwapBehaviorLimitedSwap stands for LimitedSwap.
	SwapBehaviorLimitedSwap SwapBehavior = "LimitedSwap"
)
