// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	minPodPIDs  = 100
	minLogFiles = 2
	hundred     = 100
)

// kubernetes checks the parts of Kubernetes (API-VALSHOOT-16, 17, 22).
func kubernetes(k *gardencorev1beta1.Kubernetes, path *field.Path) field.ErrorList {
	errs := kubeAPIServer(k.KubeAPIServer, k.Version, path.Child("kubeAPIServer"))
	errs = append(errs, kubeControllerManager(k.KubeControllerManager, k.Version, path.Child("kubeControllerManager"))...)
	if s := k.KubeScheduler; s != nil {
		here := path.Child("kubeScheduler")
		errs = append(errs, featureGates(s.FeatureGates, k.Version, here.Child("featureGates"))...)
		if s.Profile != nil {
			errs = append(errs, oneOf(*s.Profile, here.Child("profile"),
				gardencorev1beta1.SchedulingProfileBalanced, gardencorev1beta1.SchedulingProfileBinPacking)...)
		}
	}
	if p := k.KubeProxy; p != nil {
		here := path.Child("kubeProxy")
		errs = append(errs, featureGates(p.FeatureGates, k.Version, here.Child("featureGates"))...)
		if p.Mode != nil {
			errs = append(errs, oneOf(*p.Mode, here.Child("mode"), gardencorev1beta1.ProxyModeIPTables,
				gardencorev1beta1.ProxyModeIPVS, gardencorev1beta1.ProxyModeNFTables)...)
		}
	}
	errs = append(errs, kubelet(k.Kubelet, k.Version, path.Child("kubelet"))...)
	errs = append(errs, clusterAutoscaler(k.ClusterAutoscaler, path.Child("clusterAutoscaler"))...)
	errs = append(errs, verticalPodAutoscaler(k.VerticalPodAutoscaler, path.Child("verticalPodAutoscaler"))...)
	return errs
}

func kubeControllerManager(
	k *gardencorev1beta1.KubeControllerManagerConfig, kubernetes string, path *field.Path,
) field.ErrorList {
	if k == nil {
		return nil
	}
	errs := featureGates(k.FeatureGates, kubernetes, path.Child("featureGates"))
	errs = append(errs, lasting([]span{
		{"nodeMonitorGracePeriod", k.NodeMonitorGracePeriod}, {"podEvictionTimeout", k.PodEvictionTimeout},
	}, path)...)
	h := k.HorizontalPodAutoscaler
	if h == nil {
		return errs
	}
	here := path.Child("horizontalPodAutoscaler")
	errs = append(errs, notNegative(h.Tolerance, here.Child("tolerance"))...)
	return append(errs, lasting([]span{
		{"cpuInitializationPeriod", h.CPUInitializationPeriod},
		{"downscaleStabilization", h.DownscaleStabilization},
		{"initialReadinessDelay", h.InitialReadinessDelay},
		{"syncPeriod", h.SyncPeriod},
	}, here)...)
}

// kubelet holds API-VALSHOOT-17.
func kubelet(k *gardencorev1beta1.KubeletConfig, kubernetes string, path *field.Path) field.ErrorList {
	if k == nil {
		return nil
	}
	errs := featureGates(k.FeatureGates, kubernetes, path.Child("featureGates"))
	errs = append(errs, atLeast(k.PodPIDsLimit, minPodPIDs, path.Child("podPidsLimit"))...)
	errs = append(errs, atLeast(k.ContainerLogMaxFiles, minLogFiles, path.Child("containerLogMaxFiles"))...)
	errs = append(errs, notNegative(k.MaxPods, path.Child("maxPods"))...)
	errs = append(errs, notNegative(k.RegistryBurst, path.Child("registryBurst"))...)
	errs = append(errs, notNegative(k.RegistryPullQPS, path.Child("registryPullQPS"))...)
	errs = append(errs, notNegative(k.EvictionMaxPodGracePeriod, path.Child("evictionMaxPodGracePeriod"))...)
	errs = append(errs, atLeast(k.MaxParallelImagePulls, 1, path.Child("maxParallelImagePulls"))...)
	if deref(k.MaxParallelImagePulls) > 1 && deref(k.SerializeImagePulls) {
		errs = append(errs, field.Forbidden(path.Child("serializeImagePulls"), "has no meaning beside maxParallelImagePulls above 1"))
	}
	errs = append(errs, imageCollection(k, path)...)
	errs = append(errs, lasting([]span{
		{"evictionPressureTransitionPeriod", k.EvictionPressureTransitionPeriod},
		{"imageMaximumGCAge", k.ImageMaximumGCAge},
		{"imageMinimumGCAge", k.ImageMinimumGCAge},
		{"streamingConnectionIdleTimeout", k.StreamingConnectionIdleTimeout},
	}, path)...)
	if k.CPUManagerPolicy != nil {
		errs = append(errs, oneOf(*k.CPUManagerPolicy, path.Child("cpuManagerPolicy"), "none", "static")...)
	}
	if m := k.MemorySwap; m != nil && m.SwapBehavior != nil {
		here := path.Child("memorySwap")
		errs = append(errs, oneOf(*m.SwapBehavior, here.Child("swapBehavior"),
			gardencorev1beta1.SwapBehaviorNoSwap, gardencorev1beta1.SwapBehaviorLimitedSwap)...)
		if k.FailSwapOn == nil || *k.FailSwapOn {
			errs = append(errs, field.Forbidden(here, "has no meaning unless failSwapOn is false"))
		}
	}
	return append(errs, reserved(k.KubeReserved, path.Child("kubeReserved"))...)
}

// imageCollection checks when images are cleaned up.
func imageCollection(k *gardencorev1beta1.KubeletConfig, path *field.Path) field.ErrorList {
	high, low := k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent
	errs := numberBetween(high, 0, hundred, path.Child("imageGCHighThresholdPercent"))
	errs = append(errs, numberBetween(low, 0, hundred, path.Child("imageGCLowThresholdPercent"))...)
	if high != nil && low != nil && *low >= *high {
		errs = append(errs, field.Invalid(path.Child("imageGCLowThresholdPercent"), *low, "must be below imageGCHighThresholdPercent"))
	}
	return errs
}

func reserved(r *gardencorev1beta1.KubeletConfigReserved, path *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	return quantities([]amountOf{{"cpu", r.CPU}, {"ephemeralStorage", r.EphemeralStorage}, {"memory", r.Memory}, {"pid", r.PID}}, path)
}

func clusterAutoscaler(a *gardencorev1beta1.ClusterAutoscaler, path *field.Path) field.ErrorList {
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
	errs = append(errs, notNegative(a.MaxEmptyBulkDelete, path.Child("maxEmptyBulkDelete"))...)
	errs = append(errs, notNegative(a.MaxDrainParallelism, path.Child("maxDrainParallelism"))...)
	errs = append(errs, notNegative(a.MaxScaleDownParallelism, path.Child("maxScaleDownParallelism"))...)
	errs = append(errs, notNegative(a.Verbosity, path.Child("verbosity"))...)
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
		{"evictionTolerance", v.EvictionTolerance},
		{"recommendationLowerBoundCPUPercentile", v.RecommendationLowerBoundCPUPercentile},
		{"recommendationLowerBoundMemoryPercentile", v.RecommendationLowerBoundMemoryPercentile},
		{"recommendationUpperBoundCPUPercentile", v.RecommendationUpperBoundCPUPercentile},
		{"recommendationUpperBoundMemoryPercentile", v.RecommendationUpperBoundMemoryPercentile},
		{"targetCPUPercentile", v.TargetCPUPercentile},
		{"targetMemoryPercentile", v.TargetMemoryPercentile},
	}, path)...)
	errs = append(errs, notNegative(v.RecommendationMarginFraction, path.Child("recommendationMarginFraction"))...)
	return append(errs, notNegative(v.RecommenderUpdateWorkerCount, path.Child("recommenderUpdateWorkerCount"))...)
}

// addons holds API-VALSHOOT-13.
func addons(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	if s.Addons == nil {
		return nil
	}
	const lastMinor = 34
	var errs field.ErrorList
	dashboard, ingress := s.Addons.KubernetesDashboard, s.Addons.NginxIngress
	for _, one := range []struct {
		name    string
		enabled bool
	}{
		{"kubernetesDashboard", dashboard != nil && dashboard.Enabled}, {"nginxIngress", ingress != nil && ingress.Enabled},
	} {
		switch {
		case !one.enabled:
		case minorOf(s.Kubernetes.Version) > lastMinor:
			errs = append(errs, field.Forbidden(path.Child(one.name), "addons are no more from Kubernetes 1.35 on"))
		case s.Purpose != nil && *s.Purpose != gardencorev1beta1.ShootPurposeEvaluation:
			errs = append(errs, field.Forbidden(path.Child(one.name), "addons are for shoots of purpose evaluation only"))
		}
	}
	if dashboard != nil && dashboard.AuthenticationMode != nil {
		errs = append(errs, oneOf(*dashboard.AuthenticationMode, path.Child("kubernetesDashboard", "authenticationMode"),
			gardencorev1beta1.KubernetesDashboardAuthModeToken, "basic")...)
	}
	return errs
}
