// SPDX-License-Identifier: Apache-2.0

package verticalpodautoscaler

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// settingsOf are what the spec says, with the defaults of the API.
func settingsOf(f facts.Shoot) *gardencorev1beta1.VerticalPodAutoscaler {
	settings := cmp.Or(query.VerticalPodAutoscaler(&f.Shoot.Spec), &gardencorev1beta1.VerticalPodAutoscaler{}).DeepCopy()
	gardencorev1beta1.DefaultVerticalPodAutoscaler(settings)
	return settings
}

// flags are what the spec of the shoot says, for the program that it concerns.
func (p program) flags(f facts.Shoot) []string {
	s := settingsOf(f)
	var own []string
	switch p.name {
	case Recommender:
		own = recommenderFlags(s)
	case Updater:
		own = updaterFlags(s)
	default:
		own = admissionFlags()
	}
	return append(own, component.Switches("feature-gates", gates(s))...)
}

func recommenderFlags(s *gardencorev1beta1.VerticalPodAutoscaler) []string {
	all := []string{
		// Below this, many a pod of a cluster would be given more than it ever uses.
		"--pod-recommendation-min-cpu-millicores=5", "--pod-recommendation-min-memory-mb=10",
		duration("recommender-interval", s.RecommenderInterval),
		share("recommendation-margin-fraction", s.RecommendationMarginFraction),
		share("target-cpu-percentile", s.TargetCPUPercentile),
		share("recommendation-lower-bound-cpu-percentile", s.RecommendationLowerBoundCPUPercentile),
		share("recommendation-upper-bound-cpu-percentile", s.RecommendationUpperBoundCPUPercentile),
		duration("cpu-histogram-decay-half-life", s.CPUHistogramDecayHalfLife),
		share("target-memory-percentile", s.TargetMemoryPercentile),
		share("recommendation-lower-bound-memory-percentile", s.RecommendationLowerBoundMemoryPercentile),
		share("recommendation-upper-bound-memory-percentile", s.RecommendationUpperBoundMemoryPercentile),
		duration("memory-histogram-decay-half-life", s.MemoryHistogramDecayHalfLife),
		duration("memory-aggregation-interval", s.MemoryAggregationInterval),
	}
	all = append(all, component.Flag("memory-aggregation-interval-count", s.MemoryAggregationIntervalCount)...)
	all = append(all, component.Flag("update-worker-count", s.RecommenderUpdateWorkerCount)...)
	for _, resource := range []string{"cpu", "memory"} {
		if most, bounded := s.MaxAllowed[resource]; bounded {
			all = append(all, "--container-recommendation-max-allowed-"+resource+"="+most.String())
		}
	}
	return all
}

func updaterFlags(s *gardencorev1beta1.VerticalPodAutoscaler) []string {
	return append(
		[]string{
			// A workload with a single pod is sized as well; its disruption budget says whether it may be disturbed.
			"--min-replicas=1",
			duration("updater-interval", s.UpdaterInterval),
			duration("evict-after-oom-threshold", s.EvictAfterOOMThreshold),
			share("eviction-rate-limit", s.EvictionRateLimit),
			share("eviction-tolerance", s.EvictionTolerance),
		},
		component.Flag("eviction-rate-burst", s.EvictionRateBurst)...,
	)
}

// admissionFlags leave the configuration of the webhook to the gardenlet: a client that may write one such configuration may write all of them.
func admissionFlags() []string {
	return []string{
		"--register-webhook=false", fmt.Sprintf("--port=%d", reach.VPAWebhookPort),
		"--tls-cert-file=" + component.File(serverFolder, secrets.DataKeyCertificate),
		"--tls-private-key=" + component.File(serverFolder, secrets.DataKeyPrivateKey),
	}
}

// gates are the feature gates that the programs know. InPlaceOrRecreate is always on by now, and they do not start if it is named.
func gates(s *gardencorev1beta1.VerticalPodAutoscaler) map[string]bool {
	known := maps.Clone(s.FeatureGates)
	delete(known, "InPlaceOrRecreate")
	return known
}

func duration(name string, value *metav1.Duration) string {
	return "--" + name + "=" + value.Duration.String()
}

func share(name string, value *float64) string {
	return "--" + name + "=" + strconv.FormatFloat(*value, 'g', -1, 64)
}
