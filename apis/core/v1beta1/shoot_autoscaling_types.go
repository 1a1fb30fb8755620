// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterAutoscaler holds settings of the component that adds and removes nodes.
type ClusterAutoscaler struct {
	// Autoscaling bounds the automatic sizing of the component itself.
	// +optional
	Autoscaling *ControlPlaneAutoscaling `json:"autoscaling,omitempty"`
	// EmitPerNodeGroupMetrics measures each group of nodes. Defaults to false.
	// +optional
	EmitPerNodeGroupMetrics *bool `json:"emitPerNodeGroupMetrics,omitempty"`
	// Expander is how a group is chosen that grows, also several separated by commas. Defaults to least-waste.
	// +optional
	Expander *ExpanderMode `json:"expander,omitempty"`
	// IgnoreDaemonsetsUtilization leaves pods of daemon sets out when the use of a node is computed. Defaults to
	// false.
	// +optional
	IgnoreDaemonsetsUtilization *bool `json:"ignoreDaemonsetsUtilization,omitempty"`
	// IgnoreTaints are taints that are ignored in simulations; superseded by startupTaints and statusTaints.
	// +optional
	IgnoreTaints []string `json:"ignoreTaints,omitempty"`
	// InitialNodeGroupBackoffDuration is the first pause after a group failed to grow. Defaults to 5m.
	// +optional
	InitialNodeGroupBackoffDuration *metav1.Duration `json:"initialNodeGroupBackoffDuration,omitempty"`
	// MaxBinpackingTime bounds one simulation. Defaults to 5m.
	// +optional
	MaxBinpackingTime *metav1.Duration `json:"maxBinpackingTime,omitempty"`
	// MaxDrainParallelism is the number of nodes with pods that are drained at once. Defaults to 1.
	// +optional
	MaxDrainParallelism *int32 `json:"maxDrainParallelism,omitempty"`
	// MaxEmptyBulkDelete is the number of empty nodes that are removed at once; superseded by
	// maxScaleDownParallelism.
	// +optional
	MaxEmptyBulkDelete *int32 `json:"maxEmptyBulkDelete,omitempty"`
	// MaxGracefulTerminationSeconds is how long pods get to stop on a node that goes, in seconds. Defaults to 600.
	// +optional
	MaxGracefulTerminationSeconds *int32 `json:"maxGracefulTerminationSeconds,omitempty"`
	// MaxNodeGroupBackoffDuration is the longest pause after a group failed to grow. Defaults to 30m.
	// +optional
	MaxNodeGroupBackoffDuration *metav1.Duration `json:"maxNodeGroupBackoffDuration,omitempty"`
	// MaxNodeProvisionTime is how long to wait for a new node. Defaults to 20m.
	// +optional
	MaxNodeProvisionTime *metav1.Duration `json:"maxNodeProvisionTime,omitempty"`
	// MaxScaleDownParallelism is the number of nodes that are removed at once. Defaults to 10.
	// +optional
	MaxScaleDownParallelism *int32 `json:"maxScaleDownParallelism,omitempty"`
	// NewPodScaleUpDelay is how old a pod must be to make nodes grow. Defaults to 0s.
	// +optional
	NewPodScaleUpDelay *metav1.Duration `json:"newPodScaleUpDelay,omitempty"`
	// NodeGroupBackoffResetTimeout is how long after the last failure the pause is forgotten. Defaults to 3h.
	// +optional
	NodeGroupBackoffResetTimeout *metav1.Duration `json:"nodeGroupBackoffResetTimeout,omitempty"`
	// ScaleDownDelayAfterAdd is how long after a node was added none is removed. Defaults to 1h.
	// +optional
	ScaleDownDelayAfterAdd *metav1.Duration `json:"scaleDownDelayAfterAdd,omitempty"`
	// ScaleDownDelayAfterDelete is how long after a node was removed no other is. Defaults to 0s.
	// +optional
	ScaleDownDelayAfterDelete *metav1.Duration `json:"scaleDownDelayAfterDelete,omitempty"`
	// ScaleDownDelayAfterFailure is how long after a failed removal none is tried. Defaults to 3m.
	// +optional
	ScaleDownDelayAfterFailure *metav1.Duration `json:"scaleDownDelayAfterFailure,omitempty"`
	// ScaleDownUnneededTime is how long a node must be unneeded before it is removed. Defaults to 30m.
	// +optional
	ScaleDownUnneededTime *metav1.Duration `json:"scaleDownUnneededTime,omitempty"`
	// ScaleDownUtilizationThreshold is the share of requested resources below which a node may go. Defaults to 0.5.
	// +optional
	ScaleDownUtilizationThreshold *float64 `json:"scaleDownUtilizationThreshold,omitempty"`
	// ScanInterval is the time between two looks at the cluster. Defaults to 10s.
	// +optional
	ScanInterval *metav1.Duration `json:"scanInterval,omitempty"`
	// StartupTaints are taints that a node has while it starts.
	// +optional
	StartupTaints []string `json:"startupTaints,omitempty"`
	// StatusTaints are taints that a node has for a time and that no pod tolerates.
	// +optional
	StatusTaints []string `json:"statusTaints,omitempty"`
	// Verbosity is the log level. Defaults to 2.
	// +optional
	Verbosity *int32 `json:"verbosity,omitempty"`
}

// ExpanderMode is a way to choose the group of nodes that grows.
type ExpanderMode string

const (
	// ExpanderModeLeastWaste takes the group that would have the least left over.
	ExpanderModeLeastWaste ExpanderMode = "least-waste"
	// ExpanderModeMostPods takes the group that would fit the most pods.
	ExpanderModeMostPods ExpanderMode = "most-pods"
	// ExpanderModePriority takes the group with the highest priority.
	ExpanderModePriority ExpanderMode = "priority"
	// ExpanderModeRandom takes any group.
	ExpanderModeRandom ExpanderMode = "random"
	// ExpanderModeLeastNodes takes the group that would need the fewest nodes.
	ExpanderModeLeastNodes ExpanderMode = "least-nodes"
)

// VerticalPodAutoscaler holds settings of the component that sizes pods.
type VerticalPodAutoscaler struct {
	// Enabled installs it.
	Enabled bool `json:"enabled"`
	// CPUHistogramDecayHalfLife is the time after which a sample of processor use counts half. Defaults to 24h.
	// +optional
	CPUHistogramDecayHalfLife *metav1.Duration `json:"cpuHistogramDecayHalfLife,omitempty"`
	// EvictAfterOOMThreshold is the age within which a pod that ran out of memory is evicted. Defaults to 10m.
	// +optional
	EvictAfterOOMThreshold *metav1.Duration `json:"evictAfterOOMThreshold,omitempty"`
	// EvictionRateBurst is the number of pods evicted at once. Defaults to 1.
	// +optional
	EvictionRateBurst *int32 `json:"evictionRateBurst,omitempty"`
	// EvictionRateLimit is the number of pods evicted a second; 0 and -1 mean without bound. Defaults to -1.
	// +optional
	EvictionRateLimit *float64 `json:"evictionRateLimit,omitempty"`
	// EvictionTolerance is the share of replicas that may be evicted. Defaults to 0.5.
	// +optional
	EvictionTolerance *float64 `json:"evictionTolerance,omitempty"`
	// FeatureGates turns its features on or off.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// MaxAllowed bounds what it may recommend for a container.
	// +optional
	MaxAllowed map[string]resource.Quantity `json:"maxAllowed,omitempty"`
	// MemoryAggregationInterval is the length of a window for which the peak of memory use is kept. Defaults to 24h.
	// +optional
	MemoryAggregationInterval *metav1.Duration `json:"memoryAggregationInterval,omitempty"`
	// MemoryAggregationIntervalCount is the number of such windows. Defaults to 8.
	// +optional
	MemoryAggregationIntervalCount *int64 `json:"memoryAggregationIntervalCount,omitempty"`
	// MemoryHistogramDecayHalfLife is the time after which a peak of memory use counts half. Defaults to 24h.
	// +optional
	MemoryHistogramDecayHalfLife *metav1.Duration `json:"memoryHistogramDecayHalfLife,omitempty"`
	// RecommendationLowerBoundCPUPercentile is the percentile of processor use for the lower bound. Defaults to 0.5.
	// +optional
	RecommendationLowerBoundCPUPercentile *float64 `json:"recommendationLowerBoundCPUPercentile,omitempty"`
	// RecommendationLowerBoundMemoryPercentile is the percentile of memory use for the lower bound. Defaults to 0.5.
	// +optional
	RecommendationLowerBoundMemoryPercentile *float64 `json:"recommendationLowerBoundMemoryPercentile,omitempty"`
	// RecommendationMarginFraction is the share that is added to a recommendation. Defaults to 0.15.
	// +optional
	RecommendationMarginFraction *float64 `json:"recommendationMarginFraction,omitempty"`
	// RecommendationUpperBoundCPUPercentile is the percentile of processor use for the upper bound. Defaults to
	// 0.95.
	// +optional
	RecommendationUpperBoundCPUPercentile *float64 `json:"recommendationUpperBoundCPUPercentile,omitempty"`
	// RecommendationUpperBoundMemoryPercentile is the percentile of memory use for the upper bound. Defaults to
	// 0.95.
	// +optional
	RecommendationUpperBoundMemoryPercentile *float64 `json:"recommendationUpperBoundMemoryPercentile,omitempty"`
	// RecommenderInterval is the time between two recommendations. Defaults to 1m.
	// +optional
	RecommenderInterval *metav1.Duration `json:"recommenderInterval,omitempty"`
	// RecommenderUpdateWorkerCount is the number of workers that write recommendations. Defaults to 10.
	// +optional
	RecommenderUpdateWorkerCount *int64 `json:"recommenderUpdateWorkerCount,omitempty"`
	// TargetCPUPercentile is the percentile of processor use that is recommended. Defaults to 0.9.
	// +optional
	TargetCPUPercentile *float64 `json:"targetCPUPercentile,omitempty"`
	// TargetMemoryPercentile is the percentile of memory use that is recommended. Defaults to 0.9.
	// +optional
	TargetMemoryPercentile *float64 `json:"targetMemoryPercentile,omitempty"`
	// UpdaterInterval is the time between two rounds of updates. Defaults to 1m.
	// +optional
	UpdaterInterval *metav1.Duration `json:"updaterInterval,omitempty"`
}

// ClusterAutoscalerOptions are settings of the cluster autoscaler for one pool.
type ClusterAutoscalerOptions struct {
	// MaxNodeProvisionTime is how long to wait for a new node.
	// +optional
	MaxNodeProvisionTime *metav1.Duration `json:"maxNodeProvisionTime,omitempty"`
	// ScaleDownGPUUtilizationThreshold is the share of requested graphics processors below which a node may go.
	// +optional
	ScaleDownGPUUtilizationThreshold *float64 `json:"scaleDownGpuUtilizationThreshold,omitempty"`
	// ScaleDownUnneededTime is how long a node must be unneeded before it is removed.
	// +optional
	ScaleDownUnneededTime *metav1.Duration `json:"scaleDownUnneededTime,omitempty"`
	// ScaleDownUnreadyTime is how long an unready node must be unneeded before it is removed.
	// +optional
	ScaleDownUnreadyTime *metav1.Duration `json:"scaleDownUnreadyTime,omitempty"`
	// ScaleDownUtilizationThreshold is the share of requested resources below which a node may go.
	// +optional
	ScaleDownUtilizationThreshold *float64 `json:"scaleDownUtilizationThreshold,omitempty"`
}

// HorizontalPodAutoscalerConfig holds settings of the controller that adds and removes pods.
type HorizontalPodAutoscalerConfig struct {
	// CPUInitializationPeriod is how long after its start a pod's processor use does not count.
	// +optional
	CPUInitializationPeriod *metav1.Duration `json:"cpuInitializationPeriod,omitempty"`
	// DownscaleStabilization is how far back recommendations are remembered before pods are removed.
	// +optional
	DownscaleStabilization *metav1.Duration `json:"downscaleStabilization,omitempty"`
	// InitialReadinessDelay is how long after its start a change of readiness counts as the first.
	// +optional
	InitialReadinessDelay *metav1.Duration `json:"initialReadinessDelay,omitempty"`
	// SyncPeriod is the time between two looks at the pods.
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// Tolerance is the deviation from the target below which nothing is done.
	// +optional
	Tolerance *float64 `json:"tolerance,omitempty"`
}
