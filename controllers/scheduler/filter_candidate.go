// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// usage is the number of shoots of each seed.
type usage map[string]int

// usageOf counts a shoot for the seed it is bound to, and once more for the seed that still runs its control plane
// (SCHED-USAGE-1). Shoots in deletion count.
func usageOf(shoots []gardencorev1beta1.Shoot) usage {
	count := usage{}
	for i := range shoots {
		bound, running := shoots[i].Spec.SeedName, shoots[i].Status.SeedName
		if bound != nil {
			count[*bound]++
		}
		if running != nil && (bound == nil || *bound != *running) {
			count[*running]++
		}
	}
	return count
}

// candidate is SCHED-FILT-10: the first check that fails is the reason.
func (u usage) candidate(in Input, seed *gardencorev1beta1.Seed) string {
	for _, one := range []check{disjoint, tolerated, u.capacity} {
		if reason := one(in, seed); reason != "" {
			return reason
		}
	}
	return ""
}

func (u usage) capacity(_ Input, seed *gardencorev1beta1.Seed) string {
	allocatable, bounded := seed.Status.Allocatable[gardencorev1beta1.ResourceShoots]
	if !bounded || int64(u[seed.Name]) < allocatable.Value() {
		return ""
	}
	return fmt.Sprintf("it is full (%d of %d shoots)", u[seed.Name], allocatable.Value())
}

// tolerated is SCHED-TAINT-1.
func tolerated(in Input, seed *gardencorev1beta1.Seed) string {
	return query.Intolerance(in.Shoot, seed)
}

// disjoint compares the networks of the shoot with those of the seed.
func disjoint(in Input, seed *gardencorev1beta1.Seed) string {
	return query.NetworkConflict(in.Shoot, seed)
}
