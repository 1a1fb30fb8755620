// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterAutoscaler has its documentation written later.
type ClusterAutoscaler struct {
	// +optional
	Autoscaling *ControlPlaneAutoscaling `json:"autoscaling,omitempty"`
	// +optional
	EmitPerNodeGroupMetrics *bool `json:"emitPerNodeGroupMetrics,omitempty"`
	// +optional
	Expander *ExpanderMode `json:"expander,omitempty"`
	// +optional
	IgnoreDaemonsetsUtilization *bool `json:"ignoreDaemonsetsUtilization,omitempty"`
	// +optional
	IgnoreTaints []string `json:"ignoreTaints,omitempty"`
	// +optional
	InitialNodeGroupBackoffDuration *metav1.Duration `json:"initialNodeGroupBackoffDuration,omitempty"`
	// +optional
	MaxBinpackingTime *metav1.Duration `json:"maxBinpackingTime,omitempty"`
	// +optional
	MaxDrainParallelism *int32 `json:"maxDrainParallelism,omitempty"`
	// +optional
	MaxEmptyBulkDelete *int32 `json:"maxEmptyBulkDelete,omitempty"`
	// +optional
	MaxGracefulTerminationSeconds *int32 `json:"maxGracefulTerminationSeconds,omitempty"`
	// +optional
	MaxNodeGroupBackoffDuration *metav1.Duration `json:"maxNodeGroupBackoffDuration,omitempty"`
	// +optional
	MaxNodeProvisionTime *metav1.Duration `json:"maxNodeProvisionTime,omitempty"`
	// +optional
	MaxScaleDownParallelism *int32 `json:"maxScaleDownParallelism,omitempty"`
	// +optional
	NewPodScaleUpDelay *metav1.Duration `json:"newPodScaleUpDelay,omitempty"`
	// +optional
	NodeGroupBackoffResetTimeout *metav1.Duration `json:"nodeGroupBackoffResetTimeout,omitempty"`
	// +optional
	ScaleDownDelayAfterAdd *metav1.Duration `json:"scaleDownDelayAfterAdd,omitempty"`
	// +optional
	ScaleDownDelayAfterDelete *metav1.Duration `json:"scaleDownDelayAfterDelete,omitempty"`
	// +optional
	ScaleDownDelayAfterFailure *metav1.Duration `json:"scaleDownDelayAfterFailure,omitempty"`
	// +optional
	ScaleDownUnneededTime *metav1.Duration `json:"scaleDownUnneededTime,omitempty"`
	// +optional
	ScaleDownUtilizationThreshold *float64 `json:"scaleDownUtilizationThreshold,omitempty"`
	// +optional
	ScanInterval *metav1.Duration `json:"scanInterval,omitempty"`
	// +optional
	StartupTaints []string `json:"startupTaints,omitempty"`
	// +optional
	StatusTaints []string `json:"statusTaints,omitempty"`
	// +optional
	Verbosity *int32 `json:"verbosity,omitempty"`
}

// ExpanderMode has its documentation written later.
type ExpanderMode string

const (
	// ExpanderModeLeastWaste stands for least-waste.
	ExpanderModeLeastWaste ExpanderMode = "least-waste"
	// ExpanderModeMostPods stands for most-pods.
	ExpanderModeMostPods ExpanderMode = "most-pods"
	// ExpanderModePriority stands for priority.
	ExpanderModePriority ExpanderMode = "priority"
	// ExpanderModeRandom stands for random.
	ExpanderModeRandom ExpanderMode = "random"
	// ExpanderModeLeastNodes stands for least-nodes.
	ExpanderModeLeastNodes ExpanderMode = "least-nodes"
)

// VerticalPodAutoscaler has its documentation written later.
type VerticalPodAutoscaler struct {
	Enabled bool `json:"enabled"`
	// +optional
	CPUHistogramDecayHalfLife *metav1.Duration `json:"cpuHistogramDecayHalfLife,omitempty"`
	// +optional
	EvictAfterOOMThreshold *metav1.Duration `json:"evictAfterOOMThreshold,omitempty"`
	// +optional
	EvictionRateBurst *int32 `json:"evictionRateBurst,omitempty"`
	// +optional
	EvictionRateLimit *float64 `json:"evictionRateLimit,omitempty"`
	// +optional
	EvictionTolerance *float64 `json:"evictionTolerance,omitempty"`
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// +optional
	MaxAllowed map[string]resource.Quantity `json:"maxAllowed,omitempty"`
	// +optional
	MemoryAggregationInterval *metav1.Duration `json:"memoryAggregationInterval,omitempty"`
	// +optional
	MemoryAggregationIntervalCount *int64 `json:"memoryAggregationIntervalCount,omitempty"`
	// +optional
	MemoryHistogramDecayHalfLife *metav1.Duration `json:"memoryHistogramDecayHalfLife,omitempty"`
	// +optional
	RecommendationLowerBoundCPUPercentile *float64 `json:"recommendationLowerBoundCPUPercentile,omitempty"`
	// +optional
	RecommendationLowerBoundMemoryPercentile *float64 `json:"recommendationLowerBoundMemoryPercentile,omitempty"`
	// +optional
	RecommendationMarginFraction *float64 `json:"recommendationMarginFraction,omitempty"`
	// +optional
	RecommendationUpperBoundCPUPercentile *float64 `json:"recommendationUpperBoundCPUPercentile,omitempty"`
	// +optional
	RecommendationUpperBoundMemoryPercentile *float64 `json:"recommendationUpperBoundMemoryPercentile,omitempty"`
	// +optional
	RecommenderInterval *metav1.Duration `json:"recommenderInterval,omitempty"`
	// +optional
	RecommenderUpdateWorkerCount *int64 `json:"recommenderUpdateWorkerCount,omitempty"`
	// +optional
	TargetCPUPercentile *float64 `json:"targetCPUPercentile,omitempty"`
	// +optional
	TargetMemoryPercentile *float64 `json:"targetMemoryPercentile,omitempty"`
	// +optional
	UpdaterInterval *metav1.Duration `json:"updaterInterval,omitempty"`
}

// ClusterAutoscalerOptions has its documentation written later.
type ClusterAutoscalerOptions struct {
	// +optional
	MaxNodeProvisionTime *metav1.Duration `json:"maxNodeProvisionTime,omitempty"`
	// +optional
	ScaleDownGPUUtilizationThreshold *float64 `json:"scaleDownGpuUtilizationThreshold,omitempty"`
	// +optional
	ScaleDownUnneededTime *metav1.Duration `json:"scaleDownUnneededTime,omitempty"`
	// +optional
	ScaleDownUnreadyTime *metav1.Duration `json:"scaleDownUnreadyTime,omitempty"`
	// +optional
	ScaleDownUtilizationThreshold *float64 `json:"scaleDownUtilizationThreshold,omitempty"`
}

// HorizontalPodAutoscalerConfig has its documentation written later.
type HorizontalPodAutoscalerConfig struct {
	// +optional
	CPUInitializationPeriod *metav1.Duration `json:"cpuInitializationPeriod,omitempty"`
	// +optional
	DownscaleStabilization *metav1.Duration `json:"downscaleStabilization,omitempty"`
	// +optional
	InitialReadinessDelay *metav1.Duration `json:"initialReadinessDelay,omitempty"`
	// +optional
	SyncPeriod *metav1.Duration `json:"syncPeriod,omitempty"`
	// +optional
	Tolerance *float64 `json:"tolerance,omitempty"`
}
