// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Stage returns the stage of a version at a time: the last stage of its lifecycle that has begun. The stage of a version
// without a lifecycle is its classification, supported if it has none, and expired from its expiration date on
// (API-VALCP-2).
func Stage(v gardencorev1beta1.ExpirableVersion, now time.Time) gardencorev1beta1.VersionClassification {
	if len(v.Lifecycle) > 0 {
		return stageOf(v.Lifecycle, now)
	}
	if v.ExpirationDate != nil && !v.ExpirationDate.After(now) {
		return gardencorev1beta1.VersionClassificationExpired
	}
	if v.Classification != nil {
		return *v.Classification
	}
	return gardencorev1beta1.VersionClassificationSupported
}

func stageOf(cycle []gardencorev1beta1.LifecycleStage, now time.Time) gardencorev1beta1.VersionClassification {
	stage := gardencorev1beta1.VersionClassificationUnavailable
	for _, s := range cycle {
		if s.StartTime == nil || !s.StartTime.After(now) {
			stage = s.Classification
		}
	}
	return stage
}

// NextStage returns the time at which a version enters its next stage, if there is one.
func NextStage(v gardencorev1beta1.ExpirableVersion, now time.Time) (time.Time, bool) {
	var next time.Time
	consider := func(t *metav1.Time) {
		if t != nil && t.After(now) && (next.IsZero() || t.Time.Before(next)) {
			next = t.Time
		}
	}
	if len(v.Lifecycle) == 0 {
		consider(v.ExpirationDate)
	}
	for _, s := range v.Lifecycle {
		consider(s.StartTime)
	}
	return next, !next.IsZero()
}

// Expired reports whether a version can no longer be chosen.
func Expired(v gardencorev1beta1.ExpirableVersion, now time.Time) bool {
	return Stage(v, now) == gardencorev1beta1.VersionClassificationExpired
}

// Active reports whether a version can be chosen: it is neither expired nor unavailable (API-VALCP-2).
func Active(v gardencorev1beta1.ExpirableVersion, now time.Time) bool {
	stage := Stage(v, now)
	return stage != gardencorev1beta1.VersionClassificationExpired &&
		stage != gardencorev1beta1.VersionClassificationUnavailable
}

// Newest returns the highest of the versions that are in one of the stages and that begin with prefix: all of them when
// it is empty, else those that continue it after a dot. It is empty when there is none.
func Newest(
	all []gardencorev1beta1.ExpirableVersion, prefix string, now time.Time,
	stages ...gardencorev1beta1.VersionClassification,
) string {
	best := ""
	for _, v := range all {
		if !Continues(v.Version, prefix) || !slices.Contains(stages, Stage(v, now)) {
			continue
		}
		if best == "" || Higher(v.Version, best) {
			best = v.Version
		}
	}
	return best
}

// Continues reports whether a version is prefix followed by further parts; every version continues the empty prefix.
func Continues(version, prefix string) bool {
	return prefix == "" || strings.HasPrefix(version, prefix+".")
}

// Partial reports whether a version lacks parts, as "1" and "1.36" do.
func Partial(version string) bool {
	const dots = 2
	return strings.Count(version, ".") < dots
}

// Higher reports whether version a is higher than version b. It is false if one of them is not a version.
func Higher(a, b string) bool {
	va, ok := Version(a)
	if !ok {
		return false
	}
	vb, ok := Version(b)
	return ok && va.GreaterThan(vb)
}

// Version parses a version as the clients and extensions of a garden do: parts may be missing and may have leading zeros, as
// in the image version 18.04.201906170.
func Version(value string) (*semver.Version, bool) {
	v, err := semver.NewVersion(value)
	return v, err == nil
}
