// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"net/netip"
	"slices"

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
	taints := seed.Spec.Taints
	if len(taints) > len(in.Shoot.Spec.Tolerations) {
		return fmt.Sprintf("it has %d taints, the shoot has %d tolerations", len(taints), len(in.Shoot.Spec.Tolerations))
	}
	last := make(map[string]*string, len(in.Shoot.Spec.Tolerations))
	for _, toleration := range in.Shoot.Spec.Tolerations {
		last[toleration.Key] = toleration.Value
	}
	for _, taint := range taints {
		value, found := last[taint.Key]
		if !found || (taint.Value != nil && (value == nil || *value != *taint.Value)) {
			return fmt.Sprintf("the shoot does not tolerate its taint %q", taint.Key)
		}
	}
	return ""
}

type network struct {
	name, cidr string
}

// disjoint compares the networks of the shoot with those of the seed. A shoot without networks of its own has nothing
// to compare.
func disjoint(in Input, seed *gardencorev1beta1.Seed) string {
	if in.Shoot.Spec.Networking == nil {
		return ""
	}
	ofSeed := []network{{name: "pods", cidr: seed.Spec.Networks.Pods}, {name: "services", cidr: seed.Spec.Networks.Services}}
	if nodes := seed.Spec.Networks.Nodes; nodes != nil {
		ofSeed = append(ofSeed, network{name: "nodes", cidr: *nodes})
	}
	for _, wanted := range networksOf(in.Shoot, seed) {
		for _, taken := range ofSeed {
			if overlap(wanted.cidr, taken.cidr) {
				return fmt.Sprintf("its %s network %s overlaps with the %s network %s of the shoot", taken.name, taken.cidr, wanted.name, wanted.cidr)
			}
		}
	}
	return ""
}

// networksOf lists the networks that the shoot has or would get on this seed.
func networksOf(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) []network {
	spec := shoot.Spec.Networking
	pods, services := spec.Pods, spec.Services
	if defaults := seed.Spec.Networks.ShootDefaults; defaults != nil {
		if pods == nil && len(shoot.Spec.Provider.Workers) > 0 && ofFamily(spec.IPFamilies, defaults.Pods) {
			pods = defaults.Pods
		}
		if services == nil && ofFamily(spec.IPFamilies, defaults.Services) {
			services = defaults.Services
		}
	}
	var result []network
	for name, cidr := range map[string]*string{"nodes": spec.Nodes, "pods": pods, "services": services} {
		if cidr != nil {
			result = append(result, network{name: name, cidr: *cidr})
		}
	}
	if status := shoot.Status.Networking; status != nil {
		for name, cidrs := range map[string][]string{"nodes": status.Nodes, "pods": status.Pods, "services": status.Services} {
			for _, cidr := range cidrs {
				result = append(result, network{name: name, cidr: cidr})
			}
		}
	}
	// The message names the first overlap, so the order must not depend on the maps.
	slices.SortFunc(result, func(a, b network) int {
		return slices.Compare([]string{a.name, a.cidr}, []string{b.name, b.cidr})
	})
	return result
}

// ofFamily tells whether the CIDR has one of the families; a shoot without families is an IPv4 one.
func ofFamily(families []gardencorev1beta1.IPFamily, cidr *string) bool {
	if cidr == nil {
		return false
	}
	prefix, err := netip.ParsePrefix(*cidr)
	if err != nil {
		return false
	}
	family := gardencorev1beta1.IPFamilyIPv4
	if prefix.Addr().Is6() {
		family = gardencorev1beta1.IPFamilyIPv6
	}
	if len(families) == 0 {
		return family == gardencorev1beta1.IPFamilyIPv4
	}
	return slices.Contains(families, family)
}

// overlap ignores what is no CIDR: validation has refused it, so it is an empty field of an object that is being made.
func overlap(a, b string) bool {
	first, err := netip.ParsePrefix(a)
	if err != nil {
		return false
	}
	second, err := netip.ParsePrefix(b)
	if err != nil {
		return false
	}
	return first.Overlaps(second)
}
