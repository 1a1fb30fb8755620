// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"math"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Strategy says which of the seeds that could host a shoot are considered near enough.
type Strategy string

const (
	// SameRegion takes only seeds of the shoot's provider type and region. It is the default.
	SameRegion Strategy = "SameRegion"
	// MinimalDistance takes the seeds whose region is closest to that of the shoot: by the config map of distances that the
	// garden has for the cloud profile, else by name.
	MinimalDistance Strategy = "MinimalDistance"
)

// ParseStrategy reads a strategy from configuration; the empty string is the default (SCHED-PROC-2, SCHED-PROC-3).
func ParseStrategy(name string) (Strategy, error) {
	switch Strategy(name) {
	case "", SameRegion:
		return SameRegion, nil
	case MinimalDistance:
		return MinimalDistance, nil
	default:
		return "", fmt.Errorf("unknown scheduling strategy %q: use %q or %q", name, SameRegion, MinimalDistance)
	}
}

// near applies the strategy (SCHED-STRAT-1 to SCHED-STRAT-4). A shoot for testing goes to any seed of its provider
// type.
func near(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed {
	if purpose := in.Shoot.Spec.Purpose; purpose != nil && *purpose == gardencorev1beta1.ShootPurposeTesting {
		return keep(in, candidates, rejected, ofShootAndSeed(query.Elsewhere))
	}
	if in.Strategy == MinimalDistance {
		return nearest(in, candidates, rejected)
	}
	return keep(in, candidates, rejected, sameRegion)
}

func sameRegion(in Input, seed *gardencorev1beta1.Seed) string {
	if reason := query.Elsewhere(in.Shoot, seed); reason != "" {
		return reason
	}
	if seed.Spec.Provider.Region == in.Shoot.Spec.Region {
		return ""
	}
	return fmt.Sprintf("it is in region %q, the shoot is in %q", seed.Spec.Provider.Region, in.Shoot.Spec.Region)
}

// nearest asks the distances that the garden knows, and compares the names of regions when these tell of no candidate
// (SCHED-REGION-2).
func nearest(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed {
	known := make([]*gardencorev1beta1.Seed, 0, len(candidates))
	for _, seed := range candidates {
		if _, ok := in.Distances[seed.Spec.Provider.Region]; ok {
			known = append(known, seed)
		}
	}
	if len(known) > 0 {
		told := func(seed *gardencorev1beta1.Seed) int { return in.Distances[seed.Spec.Provider.Region] }
		return closest(known, math.MaxInt, told, func(*gardencorev1beta1.Seed, int) {})
	}
	wanted := Place{Region: in.Shoot.Spec.Region, Provider: in.Shoot.Spec.Provider.Type}
	byName := func(seed *gardencorev1beta1.Seed) int {
		return Distance(wanted, Place{Region: seed.Spec.Provider.Region, Provider: seed.Spec.Provider.Type})
	}
	return closest(candidates, maxDistance, byName, func(seed *gardencorev1beta1.Seed, d int) {
		rejected[seed.Name] = fmt.Sprintf("its region %q is too far from %q (distance %d)", seed.Spec.Provider.Region, wanted.Region, d)
	})
}

// closest keeps all candidates at the smallest distance, which is limit at most, and tells of those that are too far.
func closest(
	candidates []*gardencorev1beta1.Seed, limit int, distance func(*gardencorev1beta1.Seed) int, tooFar func(*gardencorev1beta1.Seed, int),
) []*gardencorev1beta1.Seed {
	var result []*gardencorev1beta1.Seed
	for _, seed := range candidates {
		switch d := distance(seed); {
		case d > limit:
			tooFar(seed, d)
		case d == limit:
			result = append(result, seed)
		default:
			limit, result = d, []*gardencorev1beta1.Seed{seed}
		}
	}
	return result
}
