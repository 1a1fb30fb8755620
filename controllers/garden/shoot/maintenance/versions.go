// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const noneOffered = "the cloud profile offers no version to which it can be updated"

// NextKubernetes returns the version of Kubernetes that follows one: the newest patch of its minor version or, if it has to be
// replaced and there is none, of the next minor version. It is never above the limit, if there is one. The second result is the
// reason why there is none although there has to be one (GCM-MAINT-4, 5).
func NextKubernetes(offered []gardencorev1beta1.ExpirableVersion, from, limit string, forced bool, now time.Time) (to, failure string) {
	current, ok := query.Version(from)
	if !ok {
		return missing(forced, noneOffered)
	}
	higher := above(offered, current, now)
	if most, ok := query.Version(limit); ok {
		higher = higher.those(func(v *semver.Version) bool { return !v.GreaterThan(most) })
	}
	patches := higher.those(sameMinor(current.Major(), current.Minor()))
	if to := patches.newest(); to != "" || !forced {
		return to, ""
	}
	if to := higher.those(sameMinor(current.Major(), current.Minor()+1)).wayOut(); to != "" {
		return to, ""
	}
	if limit != "" {
		return "", noneOffered + ", up to that of the control plane, " + limit
	}
	return "", noneOffered
}

// NextImage returns the version of an image that follows one, out of those that fit a pool. A higher patch comes first, in all
// strategies; without one, the strategy says how far an update goes. If the version has to be replaced and there is no other as
// near, the next minor version follows in strategy patch, and the next major version in strategy minor. The second result is the
// reason why there is none although there has to be one (GCM-MAINT-6).
func NextImage(
	fitting []gardencorev1beta1.ExpirableVersion, from string, strategy *gardencorev1beta1.MachineImageUpdateStrategy, forced bool, now time.Time,
) (to, failure string) {
	current, ok := query.Version(from)
	if !ok {
		return missing(forced, noneOffered)
	}
	higher := above(fitting, current, now)
	patches := higher.those(sameMinor(current.Major(), current.Minor()))
	if to := patches.newest(); to != "" {
		return to, ""
	}
	near, beyond := higher, candidates(nil)
	gone := "the image is at the end of its life: another one has to be chosen, or the cloud profile has to offer a newer version that fits the pool"
	switch reach(strategy) {
	case gardencorev1beta1.MachineImageUpdateStrategyPatch:
		near = patches
		beyond = higher.those(sameMajor(current.Major())).next(func(v *semver.Version) uint64 { return v.Minor() }, current.Minor())
		gone = noneOffered
	case gardencorev1beta1.MachineImageUpdateStrategyMinor:
		near = higher.those(sameMajor(current.Major()))
		beyond = higher.next(func(v *semver.Version) uint64 { return v.Major() }, current.Major())
		gone = noneOffered
	case gardencorev1beta1.MachineImageUpdateStrategyMajor:
	}
	if to := near.newest(); to != "" || !forced {
		return to, ""
	}
	if to := beyond.wayOut(); to != "" {
		return to, ""
	}
	return "", gone
}

func reach(strategy *gardencorev1beta1.MachineImageUpdateStrategy) gardencorev1beta1.MachineImageUpdateStrategy {
	if strategy == nil {
		return gardencorev1beta1.MachineImageUpdateStrategyMajor
	}
	return *strategy
}

func missing(forced bool, failure string) (string, string) {
	if forced {
		return "", failure
	}
	return "", ""
}

// candidate is a version that an update may go to.
type candidate struct {
	*semver.Version

	text  string
	stage gardencorev1beta1.VersionClassification
}

type candidates []candidate

// above returns the versions above one, without those that are not ready to be used by everybody.
func above(offered []gardencorev1beta1.ExpirableVersion, current *semver.Version, now time.Time) candidates {
	var all candidates
	for _, o := range offered {
		v, ok := query.Version(o.Version)
		stage := query.Stage(o, now)
		if !ok || !v.GreaterThan(current) ||
			stage == gardencorev1beta1.VersionClassificationPreview || stage == gardencorev1beta1.VersionClassificationUnavailable {
			continue
		}
		all = append(all, candidate{Version: v, text: o.Version, stage: stage})
	}
	return all
}

func (c candidates) those(are func(*semver.Version) bool) candidates {
	var some candidates
	for _, one := range c {
		if are(one.Version) {
			some = append(some, one)
		}
	}
	return some
}

// next returns the candidates with the lowest number above one, where of says which part of the version the number is.
func (c candidates) next(of func(*semver.Version) uint64, number uint64) candidates {
	var some candidates
	for _, one := range c {
		switch {
		case of(one.Version) <= number:
		case len(some) == 0 || of(one.Version) < of(some[0].Version):
			some = candidates{one}
		case of(one.Version) == of(some[0].Version):
			some = append(some, one)
		}
	}
	return some
}

// newest returns the highest candidate that has not expired: a supported one, or else a deprecated one.
func (c candidates) newest() string {
	return c.highest([]gardencorev1beta1.VersionClassification{
		gardencorev1beta1.VersionClassificationSupported,
	}, []gardencorev1beta1.VersionClassification{
		gardencorev1beta1.VersionClassificationDeprecated,
	})
}

// wayOut returns the highest candidate for what has to be replaced: one that has not expired, deprecated or not, or else one that has.
func (c candidates) wayOut() string {
	return c.highest([]gardencorev1beta1.VersionClassification{
		gardencorev1beta1.VersionClassificationSupported, gardencorev1beta1.VersionClassificationDeprecated,
	}, []gardencorev1beta1.VersionClassification{
		gardencorev1beta1.VersionClassificationExpired,
	})
}

// highest returns the highest candidate in the first of some groups of stages in which there is any.
func (c candidates) highest(groups ...[]gardencorev1beta1.VersionClassification) string {
	for _, stages := range groups {
		var best *candidate
		for i := range c {
			if slices.Contains(stages, c[i].stage) && (best == nil || c[i].GreaterThan(best.Version)) {
				best = &c[i]
			}
		}
		if best != nil {
			return best.text
		}
	}
	return ""
}

func sameMajor(major uint64) func(*semver.Version) bool {
	return func(v *semver.Version) bool { return v.Major() == major }
}

func sameMinor(major, minor uint64) func(*semver.Version) bool {
	return func(v *semver.Version) bool { return v.Major() == major && v.Minor() == minor }
}
