// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Strategy says which of the seeds that can host a shoot are near enough.
type Strategy string

const (
	// SameRegion takes only seeds of the shoot's provider type and region. It is the default.
	SameRegion Strategy = "SameRegion"
	// MinimalDistance takes the seeds whose region is closest to that of the shoot, by the garden's config map of distances for
	// the cloud profile, or else by name.
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
	if forTesting(in.Shoot) {
		return keep(in, candidates, rejected, ofShootAndSeed(query.Elsewhere))
	}
	if in.Strategy == MinimalDistance {
		return nearest(in, candidates, rejected)
	}
	return keep(in, candidates, rejected, sameRegion)
}

func forTesting(shoot *gardencorev1beta1.Shoot) bool {
	return shoot.Spec.Purpose != nil && *shoot.Spec.Purpose == gardencorev1beta1.ShootPurposeTesting
}

// eligible reports whether the strategy can take a seed, which for MinimalDistance depends on the other seeds.
func eligible(in Input, seed *gardencorev1beta1.Seed) bool {
	provider, region := seed.Spec.Provider.Type == in.Shoot.Spec.Provider.Type, seed.Spec.Provider.Region == in.Shoot.Spec.Region
	switch {
	case forTesting(in.Shoot):
		return provider
	case in.Strategy == MinimalDistance:
		return true
	default:
		return provider && region
	}
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

// nearest returns the closest candidates. It uses the distances that the garden knows, or compares the names of regions if the
// garden knows no distance of a candidate (SCHED-REGION-2).
func nearest(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed {
	known := slices.DeleteFunc(slices.Clone(candidates), func(seed *gardencorev1beta1.Seed) bool {
		_, ok := in.Distances[seed.Spec.Provider.Region]
		return !ok
	})
	if len(known) > 0 {
		return closest(known, func(seed *gardencorev1beta1.Seed) int { return in.Distances[seed.Spec.Provider.Region] })
	}
	wanted := Place{Region: in.Shoot.Spec.Region, Provider: in.Shoot.Spec.Provider.Type}
	byName := func(seed *gardencorev1beta1.Seed) int {
		return Distance(wanted, Place{Region: seed.Spec.Provider.Region, Provider: seed.Spec.Provider.Type})
	}
	return closest(keep(in, candidates, rejected, func(_ Input, seed *gardencorev1beta1.Seed) string {
		if d := byName(seed); d > maxDistance {
			return fmt.Sprintf("its region %q is too far from %q (distance %d)", seed.Spec.Provider.Region, wanted.Region, d)
		}
		return ""
	}), byName)
}

// closest returns all candidates at the smallest distance.
func closest(candidates []*gardencorev1beta1.Seed, distance func(*gardencorev1beta1.Seed) int) []*gardencorev1beta1.Seed {
	var result []*gardencorev1beta1.Seed
	for _, seed := range candidates {
		switch {
		case len(result) == 0 || distance(seed) < distance(result[0]):
			result = []*gardencorev1beta1.Seed{seed}
		case distance(seed) == distance(result[0]):
			result = append(result, seed)
		}
	}
	return result
}
