// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// The reasons against a single seed come from package query, which admission uses as well. The filters that compare seeds are
// here.

// profileLabels checks the seed selector of the cloud profile (SCHED-FILT-2).
func profileLabels(in Input, seed *gardencorev1beta1.Seed) string {
	return query.LabelMismatch(in.CloudProfile.Spec.SeedSelector, profileNamed(in), seed)
}

// shootLabels checks the seed selector of the shoot (SCHED-FILT-3).
func shootLabels(in Input, seed *gardencorev1beta1.Seed) string {
	return query.LabelMismatch(in.Shoot.Spec.SeedSelector, ofShoot, seed)
}

// provider checks the provider type of the seed (SCHED-FILT-4). Provider types in the seed selector of the shoot restrict the
// choice further.
func provider(in Input, seed *gardencorev1beta1.Seed) string {
	if reason := query.ProviderMismatch(in.CloudProfile.Spec.SeedSelector, profileNamed(in), in.Shoot.Spec.Provider.Type, seed); reason != "" {
		return reason
	}
	return query.ProviderMismatch(in.Shoot.Spec.SeedSelector, ofShoot, "", seed)
}

const ofShoot = "the shoot"

func profileNamed(in Input) string { return fmt.Sprintf("cloud profile %q", in.CloudProfile.Name) }

// zones checks the zones of the seed (SCHED-FILT-6). If the shoot names zones for its control plane, the seed must have all of
// them. Otherwise, a seed can require (Enforce) or prefer (Prefer) a zone in common with the workers.
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

// defaultDomain keeps the seeds that host the domain of the shoot. A domain below a default domain of the garden or of any seed must be
// the one that belongs to the shoot, and the seed must have this default domain (SCHED-FILT-8).
func defaultDomain(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed {
	domain := query.Domain(in.Shoot.Spec.DNS)
	above := func(d string) bool { return query.Below(domain, d) }
	ofSeed := func(seed *gardencorev1beta1.Seed) bool {
		return slices.ContainsFunc(query.DefaultDomains(seed, nil), above)
	}
	if domain == "" || !slices.ContainsFunc(in.Domains, above) && !slices.ContainsFunc(in.Seeds, ofSeed) {
		return candidates
	}
	return keep(in, candidates, rejected, func(in Input, seed *gardencorev1beta1.Seed) string {
		return query.ForeignDomain(in.Shoot, in.Project, seed, in.Domains)
	})
}

// ofSeed makes a check of a question about the seed alone.
func ofSeed(ask func(*gardencorev1beta1.Seed) string) check {
	return func(_ Input, seed *gardencorev1beta1.Seed) string { return ask(seed) }
}

// ofShootAndSeed makes a check of a question about the shoot and the seed.
func ofShootAndSeed(ask func(*gardencorev1beta1.Shoot, *gardencorev1beta1.Seed) string) check {
	return func(in Input, seed *gardencorev1beta1.Seed) string { return ask(in.Shoot, seed) }
}
