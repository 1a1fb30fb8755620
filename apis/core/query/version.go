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

// Stage is the stage of life of a version at a time: the last one of its life cycle that has begun. A version without a
// life cycle is what its classification says, supported when it has none, and expired from its expiration date on
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

// NextStage is when a version enters its next stage of life, if it will.
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

// Expired tells whether a version can no longer be chosen.
func Expired(v gardencorev1beta1.ExpirableVersion, now time.Time) bool {
	return Stage(v, now) == gardencorev1beta1.VersionClassificationExpired
}

// Active tells whether a version can be chosen: it is neither expired nor unavailable (API-VALCP-2).
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

// Continues tells whether a version is prefix with further parts after it; every version continues the empty one.
func Continues(version, prefix string) bool {
	return prefix == "" || strings.HasPrefix(version, prefix+".")
}

// Partial tells whether a version leaves parts open: "1" and "1.36" do, "1.36.3" does not.
func Partial(version string) bool {
	const dots = 2
	return strings.Count(version, ".") < dots
}

// Higher tells whether version a comes after version b; what is no version comes after nothing.
func Higher(a, b string) bool {
	va, ok := Version(a)
	if !ok {
		return false
	}
	vb, ok := Version(b)
	return ok && va.GreaterThan(vb)
}

// Version reads a version the way the clients and extensions of a garden do: parts may be missing and may begin with
// zeros, as in the image version 18.04.201906170.
func Version(value string) (*semver.Version, bool) {
	v, err := semver.NewVersion(value)
	return v, err == nil
}
