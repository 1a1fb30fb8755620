// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// What speaks against a seed is said by package query, which admission asks as well. Here stands in which order, and what
// takes a look at all seeds.

func usable(_ Input, seed *gardencorev1beta1.Seed) string { return query.Unusable(seed) }

// profileLabels is SCHED-FILT-2.
func profileLabels(in Input, seed *gardencorev1beta1.Seed) string {
	return query.LabelMismatch(in.CloudProfile.Spec.SeedSelector, profileNamed(in), seed)
}

// shootLabels is SCHED-FILT-3.
func shootLabels(in Input, seed *gardencorev1beta1.Seed) string {
	return query.LabelMismatch(in.Shoot.Spec.SeedSelector, ofShoot, seed)
}

// provider is SCHED-FILT-4. Provider types that the shoot lists restrict the choice further.
func provider(in Input, seed *gardencorev1beta1.Seed) string {
	if reason := query.ProviderMismatch(in.CloudProfile.Spec.SeedSelector, profileNamed(in), in.Shoot.Spec.Provider.Type, seed); reason != "" {
		return reason
	}
	return query.ProviderMismatch(in.Shoot.Spec.SeedSelector, ofShoot, "", seed)
}

const ofShoot = "the shoot"

func profileNamed(in Input) string { return fmt.Sprintf("cloud profile %q", in.CloudProfile.Name) }

// zones is SCHED-FILT-6. Zones that the shoot asks for its control plane must all be there. Otherwise a seed may insist
// on (Enforce), or ask for (Prefer), a zone in common with the workers.
func zones(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed {
	if query.SurvivesZone(&in.Shoot.Spec) {
		return candidates
	}
	if plane := in.Shoot.Spec.ControlPlane; plane != nil && len(plane.Zones) > 0 {
		return keep(in, candidates, rejected, ofShootAndSeed(query.MissingControlPlaneZone))
	}
	kept := keep(in, candidates, rejected, ofShootAndSeed(query.NoSharedZone))
	preferred := func(seed *gardencorev1beta1.Seed) bool {
		return query.ZoneMode(seed) == gardencorev1beta1.ZoneSelectionModePrefer && query.SharesZone(in.Shoot, seed)
	}
	if !slices.ContainsFunc(kept, preferred) {
		return kept
	}
	return keep(in, kept, rejected, func(_ Input, seed *gardencorev1beta1.Seed) string {
		if query.ZoneMode(seed) == gardencorev1beta1.ZoneSelectionModePrefer && !preferred(seed) {
			return "other seeds share a zone with the workers of the shoot"
		}
		return ""
	})
}

// defaultDomain keeps the seeds that host the domain of the shoot: one below a default domain of any seed of the garden
// must be the shoot's own there, and its seed must have this default domain (SCHED-FILT-8).
func defaultDomain(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed {
	domain := query.Domain(in.Shoot.Spec.DNS)
	below := func(seed gardencorev1beta1.Seed) bool { return query.BelowDefault(domain, &seed) }
	if domain == "" || !slices.ContainsFunc(in.Seeds, below) {
		return candidates
	}
	return keep(in, candidates, rejected, func(in Input, seed *gardencorev1beta1.Seed) string {
		return query.ForeignDomain(in.Shoot, in.Project, seed)
	})
}

// usage is the number of shoots of each seed.
type usage map[string]int

// usageOf counts a shoot for the seed it is bound to, and once more for the seed that still runs its control plane
// (SCHED-USAGE-1). Shoots in deletion count.
func usageOf(shoots []gardencorev1beta1.Shoot) usage {
	count := usage{}
	for i := range shoots {
		for _, seed := range query.Seeds(&shoots[i]) {
			count[seed]++
		}
	}
	return count
}

// candidate is SCHED-FILT-10: the first check that fails is the reason.
func (u usage) candidate(in Input, seed *gardencorev1beta1.Seed) string {
	if reason := query.NetworkConflict(in.Shoot, seed); reason != "" {
		return reason
	}
	if reason := query.Intolerance(in.Shoot, seed); reason != "" {
		return reason
	}
	return query.Full(seed, int64(u[seed.Name]))
}

// ofShootAndSeed makes a check of a question about the two.
func ofShootAndSeed(ask func(*gardencorev1beta1.Shoot, *gardencorev1beta1.Seed) string) check {
	return func(in Input, seed *gardencorev1beta1.Seed) string { return ask(in.Shoot, seed) }
}
