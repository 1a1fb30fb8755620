// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Resources of components.
const (
	cpu    = "cpu"
	memory = "memory"
)

func clusterAutoscaler(a *gardencorev1beta1.ClusterAutoscaler, kubernetes string, path *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	errs := lasting([]span{
		{"initialNodeGroupBackoffDuration", a.InitialNodeGroupBackoffDuration},
		{"maxBinpackingTime", a.MaxBinpackingTime},
		{"maxNodeGroupBackoffDuration", a.MaxNodeGroupBackoffDuration},
		{"maxNodeProvisionTime", a.MaxNodeProvisionTime},
		{"newPodScaleUpDelay", a.NewPodScaleUpDelay},
		{"nodeGroupBackoffResetTimeout", a.NodeGroupBackoffResetTimeout},
		{"scaleDownDelayAfterAdd", a.ScaleDownDelayAfterAdd},
		{"scaleDownDelayAfterDelete", a.ScaleDownDelayAfterDelete},
		{"scaleDownDelayAfterFailure", a.ScaleDownDelayAfterFailure},
		{"scaleDownUnneededTime", a.ScaleDownUnneededTime},
		{"scanInterval", a.ScanInterval},
	}, path)
	errs = append(errs, fraction(a.ScaleDownUtilizationThreshold, path.Child("scaleDownUtilizationThreshold"))...)
	errs = append(errs, notNegative(a.MaxGracefulTerminationSeconds, path.Child("maxGracefulTerminationSeconds"))...)
	errs = append(errs, notNegative(a.MaxDrainParallelism, path.Child("maxDrainParallelism"))...)
	errs = append(errs, notNegative(a.MaxScaleDownParallelism, path.Child("maxScaleDownParallelism"))...)
	errs = append(errs, notNegative(a.Verbosity, path.Child("verbosity"))...)
	errs = append(errs, emptyBulkDelete(a, kubernetes, path.Child("maxEmptyBulkDelete"))...)
	errs = append(errs, taintKeys(a.StartupTaints, path.Child("startupTaints"))...)
	errs = append(errs, taintKeys(a.StatusTaints, path.Child("statusTaints"))...)
	errs = append(errs, taintKeys(a.IgnoreTaints, path.Child("ignoreTaints"))...)
	if a.IgnoreTaints != nil && beyond(kubernetes, lastWithTaintsToIgnore) {
		errs = append(errs, gone(lastWithTaintsToIgnore, path.Child("ignoreTaints")))
	}
	errs = append(errs, controlPlaneAutoscaling(a.Autoscaling, nil, path.Child("autoscaling"))...)
	if a.Expander == nil {
		return errs
	}
	for mode := range strings.SplitSeq(string(*a.Expander), ",") {
		errs = append(errs, oneOf(gardencorev1beta1.ExpanderMode(mode), path.Child("expander"),
			gardencorev1beta1.ExpanderModeLeastWaste, gardencorev1beta1.ExpanderModeMostPods, gardencorev1beta1.ExpanderModePriority,
			gardencorev1beta1.ExpanderModeRandom, gardencorev1beta1.ExpanderModeLeastNodes)...)
	}
	return errs
}

// emptyBulkDelete checks the older field for maxScaleDownParallelism.
func emptyBulkDelete(a *gardencorev1beta1.ClusterAutoscaler, kubernetes string, path *field.Path) field.ErrorList {
	if a.MaxEmptyBulkDelete == nil {
		return nil
	}
	errs := notNegative(a.MaxEmptyBulkDelete, path)
	if beyond(kubernetes, lastWithEmptyBulkDelete) {
		errs = append(errs, gone(lastWithEmptyBulkDelete, path))
	}
	if a.MaxScaleDownParallelism != nil && *a.MaxScaleDownParallelism != *a.MaxEmptyBulkDelete {
		message := fmt.Sprintf("must be the same as maxScaleDownParallelism, %d", *a.MaxScaleDownParallelism)
		errs = append(errs, field.Invalid(path, *a.MaxEmptyBulkDelete, message))
	}
	return errs
}

// taintKeys checks keys of taints: each occurs once, and none is reserved for the garden.
func taintKeys(keys []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, key := range keys {
		errs = append(errs, metav1validation.ValidateLabelName(key, path.Index(i))...)
		errs = append(errs, notReservedTaint(key, path.Index(i))...)
	}
	return append(errs, duplicates(keys, path.Index)...)
}

// notReservedTaint rejects the taint that the garden itself sets on nodes, and removes once the components that a node needs are
// running.
func notReservedTaint(key string, path *field.Path) field.ErrorList {
	if key != gardencorev1beta1.TaintNodeCriticalComponentsNotReady {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "is reserved for the garden")}
}

func verticalPodAutoscaler(v *gardencorev1beta1.VerticalPodAutoscaler, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	errs := lasting([]span{
		{"cpuHistogramDecayHalfLife", v.CPUHistogramDecayHalfLife},
		{"evictAfterOOMThreshold", v.EvictAfterOOMThreshold},
		{"memoryAggregationInterval", v.MemoryAggregationInterval},
		{"memoryHistogramDecayHalfLife", v.MemoryHistogramDecayHalfLife},
		{"recommenderInterval", v.RecommenderInterval},
		{"updaterInterval", v.UpdaterInterval},
	}, path)
	errs = append(errs, shares([]share{
		{"recommendationLowerBoundCPUPercentile", v.RecommendationLowerBoundCPUPercentile},
		{"recommendationLowerBoundMemoryPercentile", v.RecommendationLowerBoundMemoryPercentile},
		{"recommendationUpperBoundCPUPercentile", v.RecommendationUpperBoundCPUPercentile},
		{"recommendationUpperBoundMemoryPercentile", v.RecommendationUpperBoundMemoryPercentile},
		{"targetCPUPercentile", v.TargetCPUPercentile},
		{"targetMemoryPercentile", v.TargetMemoryPercentile},
	}, path)...)
	errs = append(errs, belowOne([]share{
		{"evictionTolerance", v.EvictionTolerance},
		{"recommendationMarginFraction", v.RecommendationMarginFraction},
	}, path)...)
	errs = append(errs, notNegative(v.EvictionRateBurst, path.Child("evictionRateBurst"))...)
	errs = append(errs, notNegative(v.MemoryAggregationIntervalCount, path.Child("memoryAggregationIntervalCount"))...)
	errs = append(errs, atLeast(v.RecommenderUpdateWorkerCount, 1, path.Child("recommenderUpdateWorkerCount"))...)
	errs = append(errs, processorAndMemory(v.MaxAllowed, nil, path.Child("maxAllowed"))...)
	return append(errs, vpaFeatureGates(v.FeatureGates, path.Child("featureGates"))...)
}

// belowOne checks fractions that must be below 1.
func belowOne(all []share, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, s := range all {
		if s.value != nil && !(*s.value >= 0 && *s.value < 1) {
			errs = append(errs, field.Invalid(path.Child(s.name), *s.value, "must be at least 0 and below 1"))
		}
	}
	return errs
}

// controlPlaneAutoscaling checks the minimum resources of a component of the control plane.
func controlPlaneAutoscaling(a *gardencorev1beta1.ControlPlaneAutoscaling, least map[string]resource.Quantity, path *field.Path) field.ErrorList {
	if a == nil {
		return nil
	}
	here := path.Child("minAllowed")
	if len(a.MinAllowed) == 0 {
		return field.ErrorList{field.Required(here, "must name an amount of cpu or memory")}
	}
	return processorAndMemory(a.MinAllowed, least, here)
}

// processorAndMemory checks amounts of cpu and memory against their minimums in least, which are 0 if they are not given.
func processorAndMemory(all, least map[string]resource.Quantity, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(all)) {
		here, amount := path.Child(name), all[name]
		errs = append(errs, oneOf(name, here, cpu, memory)...)
		if bound := least[name]; amount.Cmp(bound) < 0 {
			errs = append(errs, field.Invalid(here, amount.String(), "must be at least "+bound.String()))
		}
	}
	return errs
}
