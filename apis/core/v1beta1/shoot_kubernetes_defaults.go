// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"math/bits"
	"slices"
	"time"
)

const (
	defaultMaxPods      = int32(110)
	defaultNodeMaskIPv6 = int32(64)
	hour                = time.Hour
)

// defaultControlPlane sets the defaults of the components of Kubernetes (API-DEF-4 to 7, 10, 11).
func defaultControlPlane(s *Shoot, hasWorkers bool) {
	k := &s.Spec.Kubernetes
	defaultAPIServer(ensure(&k.KubeAPIServer), hasWorkers)
	if hasWorkers {
		kcm := ensure(&k.KubeControllerManager)
		setDefault(&kcm.NodeCIDRMaskSize, nodeMask(s))
		if len(s.Spec.Networking.IPFamilies) > 1 {
			setDefault(&kcm.NodeCIDRMaskSizeIPv6, defaultNodeMaskIPv6)
		}
		setDefault(&kcm.NodeMonitorGracePeriod, lasting(40*time.Second))
		setDefault(&ensure(&k.KubeScheduler).Profile, SchedulingProfileBalanced)
		proxy := ensure(&k.KubeProxy)
		setDefault(&proxy.Mode, ProxyModeIPTables)
		setDefault(&proxy.Enabled, true)
		defaultKubelet(ensure(&k.Kubelet))
		if k.ClusterAutoscaler != nil {
			DefaultClusterAutoscaler(k.ClusterAutoscaler)
		}
	}
	if k.VerticalPodAutoscaler != nil {
		DefaultVerticalPodAutoscaler(k.VerticalPodAutoscaler)
	}
}

func defaultAPIServer(a *KubeAPIServerConfig, hasWorkers bool) {
	requests := ensure(&a.Requests)
	setDefault(&requests.MaxNonMutatingInflight, 400)
	setDefault(&requests.MaxMutatingInflight, 200)
	setDefault(&a.EventTTL, lasting(hour))
	setDefault(&ensure(&a.Logging).Verbosity, 2)
	setDefault(&ensure(&a.EncryptionConfig).Provider.Type, EncryptionProviderTypeAescbc)
	if hasWorkers {
		setDefault(&a.DefaultNotReadyTolerationSeconds, 300)
		setDefault(&a.DefaultUnreachableTolerationSeconds, 300)
	}
}

// nodeMask returns the size of a network that has addresses for twice the greatest number of pods of a node, rounded up to a
// power of two. A pool for which no number is given has the default one (API-DEF-5).
func nodeMask(s *Shoot) int32 {
	if slices.Equal(s.Spec.Networking.IPFamilies, []IPFamily{IPFamilyIPv6}) {
		return defaultNodeMaskIPv6
	}
	most := int32(0)
	consider := func(k *KubeletConfig, otherwise int32) {
		if k != nil && k.MaxPods != nil {
			otherwise = *k.MaxPods
		}
		most = max(most, otherwise)
	}
	shared := s.Spec.Kubernetes.Kubelet
	consider(shared, 0)
	for _, w := range s.Spec.Provider.Workers {
		if w.Kubernetes != nil && w.Kubernetes.Kubelet != nil {
			consider(w.Kubernetes.Kubelet, defaultMaxPods)
		} else {
			consider(shared, defaultMaxPods)
		}
	}
	if most == 0 {
		most = defaultMaxPods
	}
	return int32(32 - bits.Len32(uint32(2*most-1))) //nolint:gosec // most is positive and the result lies in 0..32
}

func defaultKubelet(k *KubeletConfig) {
	setDefault(&k.FailSwapOn, true)
	setDefault(&k.ImageGCHighThresholdPercent, 50)
	setDefault(&k.ImageGCLowThresholdPercent, 40)
	setDefault(&k.SerializeImagePulls, k.MaxParallelImagePulls == nil || *k.MaxParallelImagePulls < 2)
	setDefault(&k.ImageMinimumGCAge, lasting(2*time.Minute))
	setDefault(&k.ImageMaximumGCAge, lasting(0))
	defaultSwap(k)
}

// defaultPoolKubelet sets the defaults of a pool's own kubelet settings that are not taken from the shoot.
func defaultPoolKubelet(k *KubeletConfig) {
	setDefault(&k.FailSwapOn, true)
	if k.MaxParallelImagePulls != nil && *k.MaxParallelImagePulls > 1 {
		setDefault(&k.SerializeImagePulls, false)
	}
	defaultSwap(k)
}

func defaultSwap(k *KubeletConfig) {
	if !*k.FailSwapOn && k.FeatureGates["NodeSwap"] {
		setDefault(&ensure(&k.MemorySwap).SwapBehavior, SwapBehaviorLimitedSwap)
	}
}

// DefaultClusterAutoscaler sets what is not set (API-DEF-10).
func DefaultClusterAutoscaler(a *ClusterAutoscaler) {
	setDefault(&a.ScaleDownDelayAfterAdd, lasting(hour))
	setDefault(&a.ScaleDownDelayAfterDelete, lasting(0))
	setDefault(&a.ScaleDownDelayAfterFailure, lasting(3*time.Minute))
	setDefault(&a.ScaleDownUnneededTime, lasting(30*time.Minute))
	setDefault(&a.ScaleDownUtilizationThreshold, 0.5)
	setDefault(&a.ScanInterval, lasting(10*time.Second))
	setDefault(&a.Expander, ExpanderModeLeastWaste)
	setDefault(&a.MaxNodeProvisionTime, lasting(20*time.Minute))
	setDefault(&a.MaxGracefulTerminationSeconds, 600)
	setDefault(&a.NewPodScaleUpDelay, lasting(0))
	setDefault(&a.IgnoreDaemonsetsUtilization, false)
	setDefault(&a.Verbosity, 2)
	if a.MaxEmptyBulkDelete != nil {
		setDefault(&a.MaxScaleDownParallelism, *a.MaxEmptyBulkDelete)
	}
	setDefault(&a.MaxScaleDownParallelism, 10)
	setDefault(&a.MaxDrainParallelism, 1)
	setDefault(&a.InitialNodeGroupBackoffDuration, lasting(5*time.Minute))
	setDefault(&a.MaxNodeGroupBackoffDuration, lasting(30*time.Minute))
	setDefault(&a.NodeGroupBackoffResetTimeout, lasting(3*hour))
	setDefault(&a.EmitPerNodeGroupMetrics, false)
	setDefault(&a.MaxBinpackingTime, lasting(5*time.Minute))
}

// DefaultVerticalPodAutoscaler fills in what the settings of the autoscaler of pods leave out (API-DEF-11).
func DefaultVerticalPodAutoscaler(v *VerticalPodAutoscaler) {
	setDefault(&v.EvictAfterOOMThreshold, lasting(10*time.Minute))
	setDefault(&v.EvictionRateBurst, 1)
	setDefault(&v.EvictionRateLimit, -1)
	setDefault(&v.EvictionTolerance, 0.5)
	setDefault(&v.RecommendationMarginFraction, 0.15)
	setDefault(&v.UpdaterInterval, lasting(time.Minute))
	setDefault(&v.RecommenderInterval, lasting(time.Minute))
	setDefault(&v.TargetCPUPercentile, 0.9)
	setDefault(&v.RecommendationLowerBoundCPUPercentile, 0.5)
	setDefault(&v.RecommendationUpperBoundCPUPercentile, 0.95)
	setDefault(&v.TargetMemoryPercentile, 0.9)
	setDefault(&v.RecommendationLowerBoundMemoryPercentile, 0.5)
	setDefault(&v.RecommendationUpperBoundMemoryPercentile, 0.95)
	setDefault(&v.CPUHistogramDecayHalfLife, lasting(24*hour))
	setDefault(&v.MemoryHistogramDecayHalfLife, lasting(24*hour))
	setDefault(&v.MemoryAggregationInterval, lasting(24*hour))
	setDefault(&v.MemoryAggregationIntervalCount, 8)
	setDefault(&v.RecommenderUpdateWorkerCount, 10)
}
