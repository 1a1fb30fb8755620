// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KubeletConfig holds settings of kubelets, with the names and meanings of the kubelet itself.
type KubeletConfig struct {
	KubernetesConfig `json:",inline" protobuf:"bytes,1,opt,name=kubernetesConfig"`

	// ContainerLogMaxFiles is the number of log files kept for a container.
	// +optional
	ContainerLogMaxFiles *int32 `json:"containerLogMaxFiles,omitempty" protobuf:"varint,23,opt,name=containerLogMaxFiles"`
	// ContainerLogMaxSize is the size at which a log file is rotated.
	// +optional
	ContainerLogMaxSize *resource.Quantity `json:"containerLogMaxSize,omitempty" protobuf:"bytes,22,opt,name=containerLogMaxSize"`
	// CPUCFSQuota enforces processor limits.
	// +optional
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty" protobuf:"varint,2,opt,name=cpuCFSQuota"`
	// CPUManagerPolicy is none or static.
	// +optional
	CPUManagerPolicy *string `json:"cpuManagerPolicy,omitempty" protobuf:"bytes,3,opt,name=cpuManagerPolicy"`
	// EvictionHard holds the thresholds at which pods are evicted at once.
	// +optional
	EvictionHard *KubeletConfigEviction `json:"evictionHard,omitempty" protobuf:"bytes,4,opt,name=evictionHard"`
	// EvictionMaxPodGracePeriod limits the time in seconds that pods get to stop in a soft eviction.
	// +optional
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty" protobuf:"varint,5,opt,name=evictionMaxPodGracePeriod"`
	// EvictionMinimumReclaim is how much is reclaimed in an eviction.
	// +optional
	EvictionMinimumReclaim *KubeletConfigEvictionMinimumReclaim `json:"evictionMinimumReclaim,omitempty" protobuf:"bytes,6,opt,name=evictionMinimumReclaim"`
	// EvictionPressureTransitionPeriod is how long a node keeps a pressure condition after the pressure is gone.
	// +optional
	EvictionPressureTransitionPeriod *metav1.Duration `json:"evictionPressureTransitionPeriod,omitempty" protobuf:"bytes,7,opt,name=evictionPressureTransitionPeriod"`
	// EvictionSoft holds the thresholds at which pods are evicted after a grace period.
	// +optional
	EvictionSoft *KubeletConfigEviction `json:"evictionSoft,omitempty" protobuf:"bytes,8,opt,name=evictionSoft"`
	// EvictionSoftGracePeriod holds the grace periods of the soft thresholds.
	// +optional
	EvictionSoftGracePeriod *KubeletConfigEvictionSoftGracePeriod `json:"evictionSoftGracePeriod,omitempty" protobuf:"bytes,9,opt,name=evictionSoftGracePeriod"`
	// FailSwapOn prevents the kubelet from starting on a machine with swap. Defaults to true.
	// +optional
	FailSwapOn *bool `json:"failSwapOn,omitempty" protobuf:"varint,13,opt,name=failSwapOn"`
	// ImageGCHighThresholdPercent is the disk usage from which images are collected. Defaults to 50.
	// +optional
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty" protobuf:"varint,16,opt,name=imageGCHighThresholdPercent"`
	// ImageGCLowThresholdPercent is the disk usage down to which images are collected. Defaults to 40.
	// +optional
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty" protobuf:"varint,17,opt,name=imageGCLowThresholdPercent"`
	// ImageMaximumGCAge is how long an unused image is kept at most; 0s means without limit. Defaults to 0s.
	// +optional
	ImageMaximumGCAge *metav1.Duration `json:"imageMaximumGCAge,omitempty" protobuf:"bytes,29,opt,name=imageMaximumGCAge"`
	// ImageMinimumGCAge is how long an unused image is kept at least. Defaults to 2m.
	// +optional
	ImageMinimumGCAge *metav1.Duration `json:"imageMinimumGCAge,omitempty" protobuf:"bytes,28,opt,name=imageMinimumGCAge"`
	// ImagePullCredentialsVerificationPolicy says for which images on the node a pod must have credentials.
	// +optional
	ImagePullCredentialsVerificationPolicy *ImagePullCredentialsVerificationPolicy `json:"imagePullCredentialsVerificationPolicy,omitempty" protobuf:"bytes,31,opt,name=imagePullCredentialsVerificationPolicy"`
	// KubeReserved is reserved for the node's own services.
	// +optional
	KubeReserved *KubeletConfigReserved `json:"kubeReserved,omitempty" protobuf:"bytes,14,opt,name=kubeReserved"`
	// MaxParallelImagePulls is the number of images fetched at once; 2 and more turns serializeImagePulls off.
	// +optional
	MaxParallelImagePulls *int32 `json:"maxParallelImagePulls,omitempty" protobuf:"varint,27,opt,name=maxParallelImagePulls"`
	// MaxPods is the number of pods on a node. The kubelet's own default is 110.
	// +optional
	MaxPods *int32 `json:"maxPods,omitempty" protobuf:"varint,10,opt,name=maxPods"`
	// MemorySwap says how pods use swap; requires the feature gate NodeSwap and failSwapOn false.
	// +optional
	MemorySwap *MemorySwapConfiguration `json:"memorySwap,omitempty" protobuf:"bytes,26,opt,name=memorySwap"`
	// PodPIDsLimit is the number of processes of a pod; at least 100.
	// +optional
	PodPIDsLimit *int64 `json:"podPidsLimit,omitempty" protobuf:"varint,11,opt,name=podPidsLimit"`
	// PreloadedImagesVerificationAllowlist lists images for which no credentials are required.
	// +optional
	PreloadedImagesVerificationAllowlist []string `json:"preloadedImagesVerificationAllowlist,omitempty" protobuf:"bytes,32,rep,name=preloadedImagesVerificationAllowlist"`
	// ProtectKernelDefaults makes the kubelet fail if kernel settings differ from its defaults.
	// +optional
	ProtectKernelDefaults *bool `json:"protectKernelDefaults,omitempty" protobuf:"varint,24,opt,name=protectKernelDefaults"`
	// RegistryBurst is the number of image pulls at once; used only with registryPullQPS.
	// +optional
	RegistryBurst *int32 `json:"registryBurst,omitempty" protobuf:"varint,20,opt,name=registryBurst"`
	// RegistryPullQPS is the number of image pulls per second on average; 0 means without limit.
	// +optional
	RegistryPullQPS *int32 `json:"registryPullQPS,omitempty" protobuf:"varint,19,opt,name=registryPullQPS"`
	// SeccompDefault gives pods the runtime's default profile of system calls.
	// +optional
	SeccompDefault *bool `json:"seccompDefault,omitempty" protobuf:"varint,21,opt,name=seccompDefault"`
	// SerializeImagePulls fetches one image after the other. Defaults to true.
	// +optional
	SerializeImagePulls *bool `json:"serializeImagePulls,omitempty" protobuf:"varint,18,opt,name=serializeImagePulls"`
	// SingleProcessOOMKill kills only the process that ran out of memory and not its whole container.
	// +optional
	SingleProcessOOMKill *bool `json:"singleProcessOOMKill,omitempty" protobuf:"varint,30,opt,name=singleProcessOOMKill"`
	// StreamingConnectionIdleTimeout closes idle connections such as those of exec, between 30s and 4h.
	// +optional
	StreamingConnectionIdleTimeout *metav1.Duration `json:"streamingConnectionIdleTimeout,omitempty" protobuf:"bytes,25,opt,name=streamingConnectionIdleTimeout"`
	// ImagePullProgressDeadline was the time without progress after which a pull was given up. Ignored; last used by
	// Gardener v1.88.
	// +optional
	ImagePullProgressDeadline *metav1.Duration `json:"imagePullProgressDeadline,omitempty" protobuf:"bytes,1001,opt,name=imagePullProgressDeadline"`
	// SystemReserved was reserved for the operating system; now part of kubeReserved. Ignored; last used by
	// Gardener v1.140.
	// +optional
	SystemReserved *KubeletConfigReserved `json:"systemReserved,omitempty" protobuf:"bytes,1002,opt,name=systemReserved"`
}

// ImagePullCredentialsVerificationPolicy says for which images on a node a pod must have credentials.
type ImagePullCredentialsVerificationPolicy string

const (
	// ImagePullCredentialsVerificationPolicyNeverVerify requires none.
	ImagePullCredentialsVerificationPolicyNeverVerify ImagePullCredentialsVerificationPolicy = "NeverVerify"
	// ImagePullCredentialsVerificationPolicyNeverVerifyPreloadedImages requires none if the image came with the
	// machine.
	ImagePullCredentialsVerificationPolicyNeverVerifyPreloadedImages ImagePullCredentialsVerificationPolicy = "NeverVerifyPreloadedImages"
	// ImagePullCredentialsVerificationPolicyNeverVerifyAllowlistedImages requires none if the image is listed.
	ImagePullCredentialsVerificationPolicyNeverVerifyAllowlistedImages ImagePullCredentialsVerificationPolicy = "NeverVerifyAllowlistedImages"
	// ImagePullCredentialsVerificationPolicyAlwaysVerify requires them for all.
	ImagePullCredentialsVerificationPolicyAlwaysVerify ImagePullCredentialsVerificationPolicy = "AlwaysVerify"
)

// KubeletConfigEviction holds thresholds, each as a quantity or as a percentage.
type KubeletConfigEviction struct {
	// ImageFSAvailable is the free space for images.
	// +optional
	ImageFSAvailable *string `json:"imageFSAvailable,omitempty" protobuf:"bytes,2,opt,name=imageFSAvailable"`
	// ImageFSInodesFree is the number of free inodes for images.
	// +optional
	ImageFSInodesFree *string `json:"imageFSInodesFree,omitempty" protobuf:"bytes,3,opt,name=imageFSInodesFree"`
	// MemoryAvailable is the free memory.
	// +optional
	MemoryAvailable *string `json:"memoryAvailable,omitempty" protobuf:"bytes,1,opt,name=memoryAvailable"`
	// NodeFSAvailable is the free space of the node.
	// +optional
	NodeFSAvailable *string `json:"nodeFSAvailable,omitempty" protobuf:"bytes,4,opt,name=nodeFSAvailable"`
	// NodeFSInodesFree is the number of free inodes of the node.
	// +optional
	NodeFSInodesFree *string `json:"nodeFSInodesFree,omitempty" protobuf:"bytes,5,opt,name=nodeFSInodesFree"`
}

// KubeletConfigEvictionMinimumReclaim is how much is reclaimed in an eviction.
type KubeletConfigEvictionMinimumReclaim struct {
	// ImageFSAvailable is the space for images.
	// +optional
	ImageFSAvailable *resource.Quantity `json:"imageFSAvailable,omitempty" protobuf:"bytes,2,opt,name=imageFSAvailable"`
	// ImageFSInodesFree is the number of inodes for images.
	// +optional
	ImageFSInodesFree *resource.Quantity `json:"imageFSInodesFree,omitempty" protobuf:"bytes,3,opt,name=imageFSInodesFree"`
	// MemoryAvailable is the memory.
	// +optional
	MemoryAvailable *resource.Quantity `json:"memoryAvailable,omitempty" protobuf:"bytes,1,opt,name=memoryAvailable"`
	// NodeFSAvailable is the space of the node.
	// +optional
	NodeFSAvailable *resource.Quantity `json:"nodeFSAvailable,omitempty" protobuf:"bytes,4,opt,name=nodeFSAvailable"`
	// NodeFSInodesFree is the number of inodes of the node.
	// +optional
	NodeFSInodesFree *resource.Quantity `json:"nodeFSInodesFree,omitempty" protobuf:"bytes,5,opt,name=nodeFSInodesFree"`
}

// KubeletConfigEvictionSoftGracePeriod holds the grace periods of soft thresholds.
type KubeletConfigEvictionSoftGracePeriod struct {
	// ImageFSAvailable is that of the free space for images.
	// +optional
	ImageFSAvailable *metav1.Duration `json:"imageFSAvailable,omitempty" protobuf:"bytes,2,opt,name=imageFSAvailable"`
	// ImageFSInodesFree is that of the free inodes for images.
	// +optional
	ImageFSInodesFree *metav1.Duration `json:"imageFSInodesFree,omitempty" protobuf:"bytes,3,opt,name=imageFSInodesFree"`
	// MemoryAvailable is that of the free memory.
	// +optional
	MemoryAvailable *metav1.Duration `json:"memoryAvailable,omitempty" protobuf:"bytes,1,opt,name=memoryAvailable"`
	// NodeFSAvailable is that of the free space of the node.
	// +optional
	NodeFSAvailable *metav1.Duration `json:"nodeFSAvailable,omitempty" protobuf:"bytes,4,opt,name=nodeFSAvailable"`
	// NodeFSInodesFree is that of the free inodes of the node.
	// +optional
	NodeFSInodesFree *metav1.Duration `json:"nodeFSInodesFree,omitempty" protobuf:"bytes,5,opt,name=nodeFSInodesFree"`
}

// KubeletConfigReserved is an amount of a node's resources that pods cannot use.
type KubeletConfigReserved struct {
	// CPU is the processor time.
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty" protobuf:"bytes,1,opt,name=cpu"`
	// EphemeralStorage is the disk space.
	// +optional
	EphemeralStorage *resource.Quantity `json:"ephemeralStorage,omitempty" protobuf:"bytes,3,opt,name=ephemeralStorage"`
	// Memory is the main memory.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty" protobuf:"bytes,2,opt,name=memory"`
	// PID is the number of process identifiers.
	// +optional
	PID *resource.Quantity `json:"pid,omitempty" protobuf:"bytes,4,opt,name=pid"`
}

// MemorySwapConfiguration says how pods use swap.
type MemorySwapConfiguration struct {
	// SwapBehavior is NoSwap or LimitedSwap.
	// +optional
	SwapBehavior *SwapBehavior `json:"swapBehavior,omitempty" protobuf:"bytes,1,opt,name=swapBehavior"`
}

// SwapBehavior says how pods use swap.
type SwapBehavior string

const (
	// SwapBehaviorNoSwap prevents pods from using swap.
	SwapBehaviorNoSwap SwapBehavior = "NoSwap"
	// SwapBehaviorLimitedSwap lets burstable pods use it in proportion to their memory.
	SwapBehaviorLimitedSwap SwapBehavior = "LimitedSwap"
)
