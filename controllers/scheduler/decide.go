// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/scheduler/picture"
)

// maxExplained bounds the number of seeds that one message explains; a garden may have a thousand.
const maxExplained = 20

// Input is everything that a decision depends on, besides the usage of the seeds (SCHED-SEL-3). Decide neither changes nor keeps
// it.
type Input struct {
	// Shoot has no seed yet.
	Shoot *gardencorev1beta1.Shoot
	// CloudProfile is the one that the shoot names.
	CloudProfile *gardencorev1beta1.CloudProfile
	// Seeds are all seeds of the garden, sorted by name.
	Seeds []*gardencorev1beta1.Seed
	// Strategy is how near a seed has to be.
	Strategy Strategy
	// Project is the name of the shoot's project, which is part of its domain below a default domain.
	Project string
	// Domains are the default domains of the garden, which seeds without their own have.
	Domains []string
	// Distances maps regions of seeds to their distance from the shoot's region, for MinimalDistance. If it has none of the
	// candidates' regions, the names of the regions are compared.
	Distances map[string]int
}

// UnschedulableError says for every seed why it cannot host the shoot.
type UnschedulableError struct {
	// CloudProfile and Region are what the shoot asked for.
	CloudProfile, Region string
	// Strategy is how near a seed had to be.
	Strategy Strategy
	// Reasons maps the name of each seed to the first reason against it.
	Reasons map[string]string
}

// Error gives the reasons in the order of the names of the seeds (SCHED-FILT-11, SCHED-STRAT-4).
func (u *UnschedulableError) Error() string {
	if len(u.Reasons) == 0 {
		return "there is no seed to run the control plane of this shoot: join one with the command that \"terrarium token create\" prints"
	}
	names := slices.Sorted(maps.Keys(u.Reasons))
	explained := make([]string, 0, maxExplained+1)
	for _, name := range names[:min(len(names), maxExplained)] {
		explained = append(explained, fmt.Sprintf("%s: %s", name, u.Reasons[name]))
	}
	if more := len(names) - maxExplained; more > 0 {
		explained = append(explained, fmt.Sprintf("%d more seeds do not fit either", more))
	}
	return fmt.Sprintf("0 of %d seeds can host this shoot (cloud profile %q, region %q, strategy %s): %s",
		len(names), u.CloudProfile, u.Region, u.Strategy, strings.Join(explained, "; "))
}

// rejections maps the name of a seed to the reason why it was rejected.
type rejections map[string]string

// filter returns the candidates that remain, and records the reason for each one that does not.
type filter func(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed

// check returns the reason against one seed, or an empty string.
type check func(in Input, seed *gardencorev1beta1.Seed) string

// Decision is a decision for which only the usage of the seeds is missing.
type Decision struct {
	in Input
	// fitting passed all filters that do not depend on the usage, rejected did not. The strategy can take only those that are
	// eligible.
	fitting, eligible []*gardencorev1beta1.Seed
	rejected          rejections
}

// Prepare makes the part of a decision that does not depend on the usage of the seeds, which is nearly all of its work: what is
// left can be done while no other shoot is placed.
func Prepare(in Input) Decision {
	filters := []filter{
		each(ofSeed(query.Unusable)),
		each(profileLabels),
		each(shootLabels),
		each(provider),
		each(ofShootAndSeed(query.MissingZones)),
		zones,
		each(ofShootAndSeed(query.MissingAccessRestriction)),
		defaultDomain,
		each(ofSeed(query.Stopped)),
		each(ofShootAndSeed(query.NetworkConflict)),
		each(ofShootAndSeed(query.MissingNetwork)),
		each(ofShootAndSeed(query.NoNames)),
		each(ofShootAndSeed(query.Intolerance)),
	}
	rejected := rejections{}
	candidates := in.Seeds
	for _, apply := range filters {
		candidates = apply(in, candidates, rejected)
	}
	eligible := slices.DeleteFunc(slices.Clone(candidates), func(seed *gardencorev1beta1.Seed) bool { return !eligible(in, seed) })
	return Decision{in: in, fitting: candidates, eligible: eligible, rejected: rejected}
}

// Choose returns the name of the seed for the shoot: of the seeds that pass every filter and are near enough, the one with the
// fewest shoots, and of equal ones the first by name (SCHED-STRAT-5). If none remains, the error is an *UnschedulableError.
func (d Decision) Choose(used picture.Usage) (string, error) {
	candidates := d.fromThese(d.eligible, used, rejections{})
	if len(candidates) == 0 {
		return "", d.explain(used)
	}
	return slices.MinFunc(candidates, func(a, b *gardencorev1beta1.Seed) int { return used[a.Name] - used[b.Name] }).Name, nil
}

// fromThese applies the filters that are left.
func (d Decision) fromThese(seeds []*gardencorev1beta1.Seed, used picture.Usage, rejected rejections) []*gardencorev1beta1.Seed {
	room := keep(d.in, seeds, rejected, func(_ Input, seed *gardencorev1beta1.Seed) string {
		return query.Full(seed, int64(used[seed.Name]))
	})
	return near(d.in, room, rejected)
}

// explain says why no seed fits. Reasons are only put into words for that, because a garden has many seeds in other regions.
func (d Decision) explain(used picture.Usage) error {
	rejected := maps.Clone(d.rejected)
	d.fromThese(d.fitting, used, rejected)
	return &UnschedulableError{
		CloudProfile: d.in.CloudProfile.Name, Region: d.in.Shoot.Spec.Region, Strategy: d.in.Strategy, Reasons: rejected,
	}
}

func each(one check) filter {
	return func(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed {
		return keep(in, candidates, rejected, one)
	}
}

func keep(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections, one check) []*gardencorev1beta1.Seed {
	kept := make([]*gardencorev1beta1.Seed, 0, len(candidates))
	for _, seed := range candidates {
		if reason := one(in, seed); reason != "" {
			rejected[seed.Name] = reason
			continue
		}
		kept = append(kept, seed)
	}
	return kept
}
