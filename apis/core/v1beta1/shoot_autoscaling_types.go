// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterAutoscaler holds settings of the component that adds and removes nodes.
type ClusterAutoscaler struct {
	// Autoscaling limits the automatic sizing of the component itself.
	// +optional
	Autoscaling *ControlPlaneAutoscaling `json:"autoscaling,omitempty" protobuf:"bytes,24,opt,name=autoscaling"`
	// EmitPerNodeGroupMetrics emits metrics for each group of nodes. Defaults to false.
	// +optional
	EmitPerNodeGroupMetrics *bool `json:"emitPerNodeGroupMetrics,omitempty" protobuf:"varint,22,opt,name=emitPerNodeGroupMetrics"`
	// Expander says how the group to grow is chosen; several ways are separated by commas. Defaults to least-waste.
	// +optional
	Expander *ExpanderMode `json:"expander,omitempty" protobuf:"bytes,7,opt,name=expander"`
	// IgnoreDaemonsetsUtilization ignores pods of daemon sets when the utilization of a node is computed. Defaults to false.
	// +optional
	IgnoreDaemonsetsUtilization *bool `json:"ignoreDaemonsetsUtilization,omitempty" protobuf:"varint,13,opt,name=ignoreDaemonsetsUtilization"`
	// IgnoreTaints are taints that are ignored in simulations; superseded by startupTaints and statusTaints.
	// +optional
	IgnoreTaints []string `json:"ignoreTaints,omitempty" protobuf:"bytes,10,rep,name=ignoreTaints"`
	// InitialNodeGroupBackoffDuration is the first backoff after a group failed to scale up. Defaults to 5m.
	// +optional
	InitialNodeGroupBackoffDuration *metav1.Duration `json:"initialNodeGroupBackoffDuration,omitempty" protobuf:"bytes,19,opt,name=initialNodeGroupBackoffDuration"`
	// MaxBinpackingTime limits one simulation. Defaults to 5m.
	// +optional
	MaxBinpackingTime *metav1.Duration `json:"maxBinpackingTime,omitempty" protobuf:"bytes,23,opt,name=maxBinpackingTime"`
	// MaxDrainParallelism is the number of nodes with pods that are drained at once. Defaults to 1.
	// +optional
	MaxDrainParallelism *int32 `json:"maxDrainParallelism,omitempty" protobuf:"varint,18,opt,name=maxDrainParallelism"`
	// MaxEmptyBulkDelete is the number of empty nodes that are removed at once; superseded by
	// maxScaleDownParallelism.
	// +optional
	MaxEmptyBulkDelete *int32 `json:"maxEmptyBulkDelete,omitempty" protobuf:"varint,12,opt,name=maxEmptyBulkDelete"`
	// MaxGracefulTerminationSeconds is the time in seconds that pods have to terminate on a node that is removed. Defaults to 600.
	// +optional
	MaxGracefulTerminationSeconds *int32 `json:"maxGracefulTerminationSeconds,omitempty" protobuf:"varint,9,opt,name=maxGracefulTerminationSeconds"`
	// MaxNodeGroupBackoffDuration is the longest backoff after a group failed to scale up. Defaults to 30m.
	// +optional
	MaxNodeGroupBackoffDuration *metav1.Duration `json:"maxNodeGroupBackoffDuration,omitempty" protobuf:"bytes,20,opt,name=maxNodeGroupBackoffDuration"`
	// MaxNodeProvisionTime is how long to wait for a new node. Defaults to 20m.
	// +optional
	MaxNodeProvisionTime *metav1.Duration `json:"maxNodeProvisionTime,omitempty" protobuf:"bytes,8,opt,name=maxNodeProvisionTime"`
	// MaxScaleDownParallelism is the number of nodes that are removed at once. Defaults to 10.
	// +optional
	MaxScaleDownParallelism *int32 `json:"maxScaleDownParallelism,omitempty" protobuf:"varint,17,opt,name=maxScaleDownParallelism"`
	// NewPodScaleUpDelay is how old a pod must be to cause a scale-up. Defaults to 0s.
	// +optional
	NewPodScaleUpDelay *metav1.Duration `json:"newPodScaleUpDelay,omitempty" protobuf:"bytes,11,opt,name=newPodScaleUpDelay"`
	// NodeGroupBackoffResetTimeout is how long after the last failure the backoff is reset. Defaults to 3h.
	// +optional
	NodeGroupBackoffResetTimeout *metav1.Duration `json:"nodeGroupBackoffResetTimeout,omitempty" protobuf:"bytes,21,opt,name=nodeGroupBackoffResetTimeout"`
	// ScaleDownDelayAfterAdd is how long no node is removed after one was added. Defaults to 1h.
	// +optional
	ScaleDownDelayAfterAdd *metav1.Duration `json:"scaleDownDelayAfterAdd,omitempty" protobuf:"bytes,1,opt,name=scaleDownDelayAfterAdd"`
	// ScaleDownDelayAfterDelete is how long no node is removed after another one was removed. Defaults to 0s.
	// +optional
	ScaleDownDelayAfterDelete *metav1.Duration `json:"scaleDownDelayAfterDelete,omitempty" protobuf:"bytes,2,opt,name=scaleDownDelayAfterDelete"`
	// ScaleDownDelayAfterFailure is how long no removal is tried after one failed. Defaults to 3m.
	// +optional
	ScaleDownDelayAfterFailure *metav1.Duration `json:"scaleDownDelayAfterFailure,omitempty" protobuf:"bytes,3,opt,name=scaleDownDelayAfterFailure"`
	// ScaleDownUnneededTime is how long a node must be unneeded before it is removed. Defaults to 30m.
	// +optional
	ScaleDownUnneededTime *metav1.Duration `json:"scaleDownUnneededTime,omitempty" protobuf:"bytes,4,opt,name=scaleDownUnneededTime"`
	// ScaleDownUtilizationThreshold is the share of requested resources below which a node may be removed. Defaults to 0.5.
	// +optional
	ScaleDownUtilizationThreshold *float64 `json:"scaleDownUtilizationThreshold,omitempty" protobuf:"fixed64,5,opt,name=scaleDownUtilizationThreshold"`
	// ScanInterval is the time between two checks of the cluster. Defaults to 10s.
	// +optional
	ScanInterval *metav1.Duration `json:"scanInterval,omitempty" protobuf:"bytes,6,opt,name=scanInterval"`
	// StartupTaints are taints that a node has while it starts.
	// +optional
	StartupTaints []string `json:"startupTaints,omitempty" protobuf:"bytes,15,rep,name=startupTaints"`
	// StatusTaints are taints that a node has for a time and that no pod tolerates.
	// +optional
	StatusTaints []string `json:"statusTaints,omitempty" protobuf:"bytes,16,rep,name=statusTaints"`
	// Verbosity is the log level. Defaults to 2.
	// +optional
	Verbosity *int32 `json:"verbosity,omitempty" protobuf:"varint,14,opt,name=verbosity"`
}

// ExpanderMode is a way to choose the group of nodes to scale up.
type ExpanderMode string

const (
	// ExpanderModeLeastWaste takes the group that would have the least unused resources.
	ExpanderModeLeastWaste ExpanderMode = "least-waste"
	// ExpanderModeMostPods takes the group that would fit the most pods.
	ExpanderModeMostPods ExpanderMode = "most-pods"
	// ExpanderModePriority takes the group with the highest priority.
	ExpanderModePriority ExpanderMode = "priority"
	// ExpanderModeRandom takes a random group.
	ExpanderModeRandom ExpanderMode = "random"
	// ExpanderModeLeastNodes takes the group that would need the fewest nodes.
	ExpanderModeLeastNodes ExpanderMode = "least-nodes"
)

// VerticalPodAutoscaler holds settings of the component that sizes pods.
type VerticalPodAutoscaler struct {
	// Enabled installs it.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
	// CPUHistogramDecayHalfLife is the time after which a sample of processor use has half of its weight. Defaults to 24h.
	// +optional
	CPUHistogramDecayHalfLife *metav1.Duration `json:"cpuHistogramDecayHalfLife,omitempty" protobuf:"bytes,15,opt,name=cpuHistogramDecayHalfLife"`
	// EvictAfterOOMThreshold is the age within which a pod that ran out of memory is evicted. Defaults to 10m.
	// +optional
	EvictAfterOOMThreshold *metav1.Duration `json:"evictAfterOOMThreshold,omitempty" protobuf:"bytes,2,opt,name=evictAfterOOMThreshold"`
	// EvictionRateBurst is the number of pods evicted at once. Defaults to 1.
	// +optional
	EvictionRateBurst *int32 `json:"evictionRateBurst,omitempty" protobuf:"varint,3,opt,name=evictionRateBurst"`
	// EvictionRateLimit is the number of pods evicted per second; 0 and -1 mean without limit. Defaults to -1.
	// +optional
	EvictionRateLimit *float64 `json:"evictionRateLimit,omitempty" protobuf:"fixed64,4,opt,name=evictionRateLimit"`
	// EvictionTolerance is the share of replicas that may be evicted. Defaults to 0.5.
	// +optional
	EvictionTolerance *float64 `json:"evictionTolerance,omitempty" protobuf:"fixed64,5,opt,name=evictionTolerance"`
	// FeatureGates enables or disables its features.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty" protobuf:"bytes,19,rep,name=featureGates"`
	// MaxAllowed limits what it may recommend for a container.
	// +optional
	MaxAllowed map[string]resource.Quantity `json:"maxAllowed,omitempty" protobuf:"bytes,20,rep,name=maxAllowed"`
	// MemoryAggregationInterval is the length of a window for which the peak of memory use is kept. Defaults to 24h.
	// +optional
	MemoryAggregationInterval *metav1.Duration `json:"memoryAggregationInterval,omitempty" protobuf:"bytes,17,opt,name=memoryAggregationInterval"`
	// MemoryAggregationIntervalCount is the number of such windows. Defaults to 8.
	// +optional
	MemoryAggregationIntervalCount *int64 `json:"memoryAggregationIntervalCount,omitempty" protobuf:"varint,18,opt,name=memoryAggregationIntervalCount"`
	// MemoryHistogramDecayHalfLife is the time after which a peak of memory use has half of its weight. Defaults to 24h.
	// +optional
	MemoryHistogramDecayHalfLife *metav1.Duration `json:"memoryHistogramDecayHalfLife,omitempty" protobuf:"bytes,16,opt,name=memoryHistogramDecayHalfLife"`
	// RecommendationLowerBoundCPUPercentile is the percentile of processor use for the lower bound. Defaults to 0.5.
	// +optional
	RecommendationLowerBoundCPUPercentile *float64 `json:"recommendationLowerBoundCPUPercentile,omitempty" protobuf:"fixed64,10,opt,name=recommendationLowerBoundCPUPercentile"`
	// RecommendationLowerBoundMemoryPercentile is the percentile of memory use for the lower bound. Defaults to 0.5.
	// +optional
	RecommendationLowerBoundMemoryPercentile *float64 `json:"recommendationLowerBoundMemoryPercentile,omitempty" protobuf:"fixed64,13,opt,name=recommendationLowerBoundMemoryPercentile"`
	// RecommendationMarginFraction is the share that is added to a recommendation. Defaults to 0.15.
	// +optional
	RecommendationMarginFraction *float64 `json:"recommendationMarginFraction,omitempty" protobuf:"fixed64,6,opt,name=recommendationMarginFraction"`
	// RecommendationUpperBoundCPUPercentile is the percentile of processor use for the upper bound. Defaults to
	// 0.95.
	// +optional
	RecommendationUpperBoundCPUPercentile *float64 `json:"recommendationUpperBoundCPUPercentile,omitempty" protobuf:"fixed64,11,opt,name=recommendationUpperBoundCPUPercentile"`
	// RecommendationUpperBoundMemoryPercentile is the percentile of memory use for the upper bound. Defaults to
	// 0.95.
	// +optional
	RecommendationUpperBoundMemoryPercentile *float64 `json:"recommendationUpperBoundMemoryPercentile,omitempty" protobuf:"fixed64,14,opt,name=recommendationUpperBoundMemoryPercentile"`
	// RecommenderInterval is the time between two recommendations. Defaults to 1m.
	// +optional
	RecommenderInterval *metav1.Duration `json:"recommenderInterval,omitempty" protobuf:"bytes,8,opt,name=recommenderInterval"`
	// RecommenderUpdateWorkerCount is the number of workers that write recommendations. Defaults to 10.
	// +optional
	RecommenderUpdateWorkerCount *int64 `json:"recommenderUpdateWorkerCount,omitempty" protobuf:"varint,21,opt,name=recommenderUpdateWorkerCount"`
	// TargetCPUPercentile is the percentile of processor use that is recommended. Defaults to 0.9.
	// +optional
	TargetCPUPercentile *float64 `json:"targetCPUPercentile,omitempty" protobuf:"fixed64,9,opt,name=targetCPUPercentile"`
	// TargetMemoryPercentile is the percentile of memory use that is recommended. Defaults to 0.9.
	// +optional
	TargetMemoryPercentile *float64 `json:"targetMemoryPercentile,omitempty" protobuf:"fixed64,12,opt,name=targetMemoryPercentile"`
	// UpdaterInterval is the time between two rounds of updates. Defaults to 1m.
	// +optional
	UpdaterInterval *metav1.Duration `json:"updaterInterval,omitempty" protobuf:"bytes,7,opt,name=updaterInterval"`
}

// ClusterAutoscalerOptions are settings of the cluster autoscaler for one pool.
type ClusterAutoscalerOptions struct {
	// MaxNodeProvisionTime is how long to wait for a new node.
	// +optional
	MaxNodeProvisionTime *metav1.Duration `json:"maxNodeProvisionTime,omitempty" protobuf:"bytes,5,opt,name=maxNodeProvisionTime"`
	// ScaleDownGPUUtilizationThreshold is the share of requested graphics processors below which a node may be removed.
	// +optional
	ScaleDownGPUUtilizationThreshold *float64 `json:"scaleDownGpuUtilizationThreshold,omitempty" protobuf:"fixed64,2,opt,name=scaleDownGpuUtilizationThreshold"`
	// ScaleDownUnneededTime is how long a node must be unneeded before it is removed.
	// +optional
	ScaleDownUnneededTime *metav1.Duration `json:"scaleDownUnneededTime,omitempty" protobuf:"bytes,3,opt,name=scaleDownUnneededTime"`
	// ScaleDownUnreadyTime is how long an unready node must be unneeded before it is removed.
	// +optional
	ScaleDownUnreadyTime *metav1.Duration `json:"scaleDownUnreadyTime,omitempty" protobuf:"bytes,4,opt,name=scaleDownUnreadyTime"`
	// ScaleDownUtilizationThreshold is the share of requested resources below which a node may be removed.
	// +optional
	ScaleDownUtilizationThreshold *float64 `json:"scaleDownUtilizationThreshold,omitempty" protobuf:"fixed64,1,opt,name=scaleDownUtilizationThreshold"`
}

// HorizontalPodAutoscalerConfig holds settings of the controller that adds and removes pods.
type HorizontalPodAutoscalerConfig struct {
	// CPUInitializationPeriod is how long after its start the CPU usage of a pod is ignored.
	// +optional
	CPUInitializationPeriod *metav1.Duration `json:"cpuInitializationPeriod,omitempty" protobuf:"bytes,1,opt,name=cpuInitializationPeriod"`
	// DownscaleStabilization is the window of recommendations that are considered before pods are removed.
	// +optional
	DownscaleStabilization *metav1.Duration `json:"downscaleStabilization,omitempty" protobuf:"bytes,3,opt,name=downscaleStabilization"`
	// InitialReadinessDelay is how long after its start a change of readiness counts as the first.
	// +optional
	InitialReadinessDelay *metav1.Duration `json:"initialReadinessDelay,omitempty" protobuf:"bytes,4,opt,name=initialReadinessDelay"`
	// SyncPeriod is the time between two checks of the pods.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty" protobuf:"bytes,5,opt,name=syncPeriod"`
	// Tolerance is the deviation from the target below which pods are not scaled.
	// +optional
	Tolerance *float64 `json:"tolerance,omitempty" protobuf:"fixed64,6,opt,name=tolerance"`
}
