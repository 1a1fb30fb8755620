// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	minPodPIDs       = 100
	minLogFiles      = 2
	hundred          = 100
	minStreamingIdle = 30 * time.Second
	maxStreamingIdle = 4 * time.Hour
)

// kubelet checks the settings of kubelets: limits of processes, images, logs, swap and evictions (API-VALSHOOT-17).
func kubelet(k *gardencorev1beta1.KubeletConfig, kubernetes string, path *field.Path) field.ErrorList {
	if k == nil {
		return nil
	}
	errs := featureGates(k.FeatureGates, kubernetes, path.Child("featureGates"))
	errs = append(errs, atLeast(k.PodPIDsLimit, minPodPIDs, path.Child("podPidsLimit"))...)
	errs = append(errs, notNegative(k.MaxPods, path.Child("maxPods"))...)
	errs = append(errs, notNegative(k.EvictionMaxPodGracePeriod, path.Child("evictionMaxPodGracePeriod"))...)
	errs = append(errs, lasting([]span{
		{"evictionPressureTransitionPeriod", k.EvictionPressureTransitionPeriod},
		{"imageMaximumGCAge", k.ImageMaximumGCAge},
		{"imageMinimumGCAge", k.ImageMinimumGCAge},
		{"imagePullProgressDeadline", k.ImagePullProgressDeadline},
	}, path)...)
	errs = append(errs, between(k.StreamingConnectionIdleTimeout, minStreamingIdle, maxStreamingIdle, path.Child("streamingConnectionIdleTimeout"))...)
	errs = append(errs, atLeast(k.ContainerLogMaxFiles, minLogFiles, path.Child("containerLogMaxFiles"))...)
	errs = append(errs, quantities([]amountOf{{"containerLogMaxSize", k.ContainerLogMaxSize}}, path)...)
	if k.CPUManagerPolicy != nil {
		errs = append(errs, oneOf(*k.CPUManagerPolicy, path.Child("cpuManagerPolicy"), "none", "static")...)
	}
	errs = append(errs, images(k, path)...)
	errs = append(errs, imageCredentials(k, kubernetes, path)...)
	errs = append(errs, swap(k, path.Child("memorySwap"))...)
	errs = append(errs, evictions(k, path)...)
	return append(errs, reserved(k.KubeReserved, path.Child("kubeReserved"))...)
}

// images checks the settings for image pulls and image garbage collection.
func images(k *gardencorev1beta1.KubeletConfig, path *field.Path) field.ErrorList {
	errs := notNegative(k.RegistryBurst, path.Child("registryBurst"))
	errs = append(errs, notNegative(k.RegistryPullQPS, path.Child("registryPullQPS"))...)
	errs = append(errs, atLeast(k.MaxParallelImagePulls, 1, path.Child("maxParallelImagePulls"))...)
	if deref(k.MaxParallelImagePulls) > 1 && deref(k.SerializeImagePulls) {
		errs = append(errs, field.Forbidden(path.Child("maxParallelImagePulls"), "must not be above 1 while serializeImagePulls is on"))
	}
	high, low := k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent
	errs = append(errs, numberBetween(high, 0, hundred, path.Child("imageGCHighThresholdPercent"))...)
	errs = append(errs, numberBetween(low, 0, hundred, path.Child("imageGCLowThresholdPercent"))...)
	if high != nil && low != nil && *low >= *high {
		errs = append(errs, field.Forbidden(path.Child("imageGCLowThresholdPercent"), "must be below imageGCHighThresholdPercent"))
	}
	return errs
}

// loneThreshold checks a pool that sets only one of the thresholds of image collection: a kubelet does not start with one that does not fit its own
// default for the other. A pool that is stored so stays valid, because its shoot must be possible to write, and to delete (API-VALSHOOT-17).
func loneThreshold(w *gardencorev1beta1.Worker, stored *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	const defaultHigh, defaultLow = 85, 80
	high, low := imageThresholds(w)
	if stored != nil {
		wasHigh, wasLow := imageThresholds(query.Pool(stored, w.Name))
		if apiequality.Semantic.DeepEqual([]*int32{wasHigh, wasLow}, []*int32{high, low}) {
			return nil
		}
	}
	path = path.Child("kubernetes", "kubelet")
	switch {
	case high == nil && low != nil && *low >= defaultHigh && *low <= hundred:
		return field.ErrorList{field.Forbidden(path.Child("imageGCLowThresholdPercent"), fmt.Sprintf("must be below %d unless imageGCHighThresholdPercent is set", defaultHigh))}
	case low == nil && high != nil && *high <= defaultLow && *high >= 0:
		return field.ErrorList{field.Forbidden(path.Child("imageGCHighThresholdPercent"), fmt.Sprintf("must be above %d unless imageGCLowThresholdPercent is set", defaultLow))}
	default:
		return nil
	}
}

// imageThresholds are those of image collection that a pool sets itself.
func imageThresholds(w *gardencorev1beta1.Worker) (high, low *int32) {
	if w == nil || w.Kubernetes == nil || w.Kubernetes.Kubelet == nil {
		return nil, nil
	}
	return w.Kubernetes.Kubelet.ImageGCHighThresholdPercent, w.Kubernetes.Kubelet.ImageGCLowThresholdPercent
}

// imageCredentials checks the credential verification for images that are already on a node. A kubelet accepts these
// settings only if a feature gate is enabled, which older versions do not enable by default.
func imageCredentials(k *gardencorev1beta1.KubeletConfig, kubernetes string, path *field.Path) field.ErrorList {
	const (
		gate      = "KubeletEnsureSecretPulledImages"
		firstThat = 35 // is on by default in
	)
	policy := k.ImagePullCredentialsVerificationPolicy
	if policy == nil && len(k.PreloadedImagesVerificationAllowlist) == 0 {
		return nil
	}
	here, list := path.Child("imagePullCredentialsVerificationPolicy"), path.Child("preloadedImagesVerificationAllowlist")
	on, given := k.FeatureGates[gate]
	if minor := minorOf(kubernetes); !on && (given || minor < firstThat) {
		if policy == nil {
			here = list
		}
		return field.ErrorList{field.Forbidden(here, "requires the feature gate "+gate+", which is enabled by default from Kubernetes 1.35 on")}
	}
	var errs field.ErrorList
	if policy != nil {
		errs = append(errs, oneOf(*policy, here,
			gardencorev1beta1.ImagePullCredentialsVerificationPolicyNeverVerify,
			gardencorev1beta1.ImagePullCredentialsVerificationPolicyNeverVerifyPreloadedImages,
			gardencorev1beta1.ImagePullCredentialsVerificationPolicyNeverVerifyAllowlistedImages,
			gardencorev1beta1.ImagePullCredentialsVerificationPolicyAlwaysVerify)...)
	}
	listed := gardencorev1beta1.ImagePullCredentialsVerificationPolicyNeverVerifyAllowlistedImages
	if len(k.PreloadedImagesVerificationAllowlist) > 0 && deref(policy) != listed {
		errs = append(errs, field.Forbidden(list, "has no effect unless imagePullCredentialsVerificationPolicy is "+string(listed)))
	}
	for i, image := range k.PreloadedImagesVerificationAllowlist {
		name := strings.TrimSuffix(image, "/*")
		if name == "" || strings.ContainsAny(name, "*@ ") || strings.Contains(name[strings.LastIndex(name, "/")+1:], ":") {
			errs = append(errs, field.Invalid(list.Index(i), image, "must be an image without tag and digest, or end in /*"))
		}
	}
	return errs
}

// swap checks the swap settings, which require failSwapOn false and a feature gate.
func swap(k *gardencorev1beta1.KubeletConfig, path *field.Path) field.ErrorList {
	m := k.MemorySwap
	if m == nil {
		return nil
	}
	var errs field.ErrorList
	if deref(k.FailSwapOn) {
		errs = append(errs, field.Forbidden(path, "has no effect unless failSwapOn is false"))
	}
	if m.SwapBehavior == nil {
		return errs
	}
	if !k.FeatureGates["NodeSwap"] {
		errs = append(errs, field.Forbidden(path, "requires the feature gate NodeSwap in featureGates"))
	}
	return append(errs, oneOf(*m.SwapBehavior, path.Child("swapBehavior"),
		gardencorev1beta1.SwapBehaviorNoSwap, gardencorev1beta1.SwapBehaviorLimitedSwap)...)
}

// evictions checks the eviction thresholds of a kubelet.
func evictions(k *gardencorev1beta1.KubeletConfig, path *field.Path) field.ErrorList {
	errs := thresholds(k.EvictionHard, path.Child("evictionHard"))
	errs = append(errs, thresholds(k.EvictionSoft, path.Child("evictionSoft"))...)
	if r := k.EvictionMinimumReclaim; r != nil {
		errs = append(errs, quantities([]amountOf{
			{"imageFSAvailable", r.ImageFSAvailable},
			{"imageFSInodesFree", r.ImageFSInodesFree},
			{"memoryAvailable", r.MemoryAvailable},
			{"nodeFSAvailable", r.NodeFSAvailable},
			{"nodeFSInodesFree", r.NodeFSInodesFree},
		}, path.Child("evictionMinimumReclaim"))...)
	}
	if g := k.EvictionSoftGracePeriod; g != nil {
		errs = append(errs, lasting([]span{
			{"imageFSAvailable", g.ImageFSAvailable},
			{"imageFSInodesFree", g.ImageFSInodesFree},
			{"memoryAvailable", g.MemoryAvailable},
			{"nodeFSAvailable", g.NodeFSAvailable},
			{"nodeFSInodesFree", g.NodeFSInodesFree},
		}, path.Child("evictionSoftGracePeriod"))...)
	}
	return errs
}

// thresholds checks that thresholds are quantities or percentages from 0% to 100%.
func thresholds(e *gardencorev1beta1.KubeletConfigEviction, path *field.Path) field.ErrorList {
	if e == nil {
		return nil
	}
	var errs field.ErrorList
	for _, one := range []struct {
		name  string
		value *string
	}{
		{"imageFSAvailable", e.ImageFSAvailable},
		{"imageFSInodesFree", e.ImageFSInodesFree},
		{"memoryAvailable", e.MemoryAvailable},
		{"nodeFSAvailable", e.NodeFSAvailable},
		{"nodeFSInodesFree", e.NodeFSInodesFree},
	} {
		if one.value == nil {
			continue
		}
		if isQuantity(*one.value) {
			continue
		}
		digits, isPercentage := strings.CutSuffix(*one.value, "%")
		if n, err := strconv.Atoi(digits); err != nil || !isPercentage || n < 0 || n > hundred {
			errs = append(errs, field.Invalid(path.Child(one.name), *one.value, "must be a quantity such as 200Mi or a percentage from 0% to 100%"))
		}
	}
	return errs
}

// isQuantity reports whether a text is a quantity that is not negative. Exponents of more than two digits are rejected
// without parsing: the parser expands such numbers, which takes minutes.
func isQuantity(text string) bool {
	const longest, digits = 64, 2
	if len(text) > longest {
		return false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > digits {
		return false
	}
	q, err := resource.ParseQuantity(text)
	return err == nil && q.Sign() >= 0
}

func reserved(r *gardencorev1beta1.KubeletConfigReserved, path *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	return quantities([]amountOf{{"cpu", r.CPU}, {"ephemeralStorage", r.EphemeralStorage}, {"memory", r.Memory}, {"pid", r.PID}}, path)
}
