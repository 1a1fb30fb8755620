// SPDX-License-Identifier: Apache-2.0

package query

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// The functions below return the reason why a seed cannot take a shoot, in words that continue the name of the seed. They
// return an empty string if the seed can take it.

const (
	// anyProvider in a list of provider types stands for all of them.
	anyProvider = "*"
	// zonesForTolerance is the number of zones that a seed needs for control planes to survive the loss of one.
	zonesForTolerance = 3
)

// Intolerance rejects a seed with a taint that the shoot does not tolerate: a taint without a value is tolerated by any
// toleration of its key, a taint with a value only by the same value. The last of several tolerations of a key counts, and
// more taints than tolerations are never tolerated (SCHED-TAINT-1).
func Intolerance(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	taints, tolerations := seed.Spec.Taints, shoot.Spec.Tolerations
	if len(taints) > len(tolerations) {
		return fmt.Sprintf("it has %d taints, the shoot has %d tolerations", len(taints), len(tolerations))
	}
	last := make(map[string]*string, len(tolerations))
	for _, t := range tolerations {
		last[t.Key] = t.Value
	}
	for _, t := range taints {
		value, found := last[t.Key]
		if !found || t.Value != nil && (value == nil || *value != *t.Value) {
			return fmt.Sprintf("the shoot does not tolerate its taint %q", t.Key)
		}
	}
	return ""
}

// SelectorMismatch rejects a seed whose labels or provider type do not match a seed selector, as far as the selector
// restricts them. The selector is that of a cloud profile or of a shoot, which owner names. If the selector has no provider
// types, the scheduler takes seeds of the shoot's own type only, but a user who chooses a seed may choose any (API-SVAL-3).
func SelectorMismatch(s *gardencorev1beta1.SeedSelector, owner string, seed *gardencorev1beta1.Seed) string {
	if reason := LabelMismatch(s, owner, seed); reason != "" {
		return reason
	}
	return ProviderMismatch(s, owner, "", seed)
}

// LabelMismatch rejects a seed whose labels do not match a seed selector (SCHED-FILT-2, SCHED-FILT-3).
func LabelMismatch(s *gardencorev1beta1.SeedSelector, owner string, seed *gardencorev1beta1.Seed) string {
	if s == nil {
		return ""
	}
	selector, err := metav1.LabelSelectorAsSelector(&s.LabelSelector)
	if err != nil {
		return fmt.Sprintf("the seed selector of %s is invalid: %s", owner, err)
	}
	if !selector.Matches(labels.Set(seed.Labels)) {
		return fmt.Sprintf("its labels do not match the seed selector of %s", owner)
	}
	return ""
}

// ProviderMismatch rejects a seed whose provider type is not in a seed selector. If the selector lists no types, only the
// type in usual is allowed, and any type if usual is empty (SCHED-FILT-4).
func ProviderMismatch(s *gardencorev1beta1.SeedSelector, owner, usual string, seed *gardencorev1beta1.Seed) string {
	var allowed []string
	if s != nil {
		allowed = s.ProviderTypes
	}
	if len(allowed) == 0 && usual != "" {
		allowed = []string{usual}
	}
	if len(allowed) == 0 || slices.Contains(allowed, anyProvider) || slices.Contains(allowed, seed.Spec.Provider.Type) {
		return ""
	}
	return fmt.Sprintf("its provider type is %q, %s allows %s", seed.Spec.Provider.Type, owner, strings.Join(allowed, ", "))
}

// MissingAccessRestriction rejects a seed that does not support an access restriction of the shoot (SCHED-FILT-7).
func MissingAccessRestriction(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	for _, wanted := range shoot.Spec.AccessRestrictions {
		has := func(have gardencorev1beta1.AccessRestriction) bool { return have.Name == wanted.Name }
		if !slices.ContainsFunc(seed.Spec.AccessRestrictions, has) {
			return fmt.Sprintf("it does not support access restriction %q", wanted.Name)
		}
	}
	return ""
}

// MissingZones rejects a seed that has too few zones for the failure tolerance of the shoot (SCHED-FILT-5, API-SVAL-7).
func MissingZones(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	if !SurvivesZone(&shoot.Spec) {
		return ""
	}
	if have := len(seed.Spec.Provider.Zones); have < zonesForTolerance {
		return fmt.Sprintf("it has %d zones, failure tolerance \"zone\" needs %d", have, zonesForTolerance)
	}
	return ""
}

// EmergencyStopped reports whether an operator has stopped the reconciliations of all shoots of a seed (GLET-SEED-13).
func EmergencyStopped(seed *gardencorev1beta1.Seed) bool {
	stopped, err := strconv.ParseBool(seed.Annotations[gardencorev1beta1.AnnotationSeedEmergencyStop])
	return err == nil && stopped
}

type network struct{ name, cidr string }

// NetworkConflict rejects a seed whose networks overlap with those that a shoot has or would get on the seed. Only IPv6
// ranges are compared, because IPv4 ranges are mapped on their way between seed and shoot. A shoot without a networking
// section has no conflict (SCHED-FILT-10a, API-SVAL-12, API-VALSHOOT-11).
func NetworkConflict(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	if shoot.Spec.Networking == nil {
		return ""
	}
	taken := []network{{name: "pods", cidr: seed.Spec.Networks.Pods}, {name: "services", cidr: seed.Spec.Networks.Services}}
	if nodes := seed.Spec.Networks.Nodes; nodes != nil {
		taken = append(taken, network{name: "nodes", cidr: *nodes})
	}
	for _, wanted := range networksOf(shoot, seed) {
		for _, t := range taken {
			if overlapIPv6(wanted.cidr, t.cidr) {
				return fmt.Sprintf("its %s network %s overlaps with the %s network %s of the shoot", t.name, t.cidr, wanted.name, wanted.cidr)
			}
		}
	}
	return ""
}

// MissingNetwork rejects a seed that has no default for a network that the shoot needs and does not name (SCHED-FILT-10a,
// API-SVAL-12). A shoot with IPv6 only and without workers needs no default for services, because the server makes one up (API-SMUT-3).
func MissingNetwork(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	n := shoot.Spec.Networking
	if n == nil || SelfHosted(&shoot.Spec) {
		return ""
	}
	workerless := Workerless(&shoot.Spec)
	pods, services := DefaultNetworks(&shoot.Spec, seed)
	switch {
	case pods == nil && !workerless:
		return "it has no default for the network of pods, which the shoot does not name"
	case services == nil && (!workerless || !OnlyIPv6(n)):
		return "it has no default for the network of services, which the shoot does not name"
	default:
		return ""
	}
}

// OnlyIPv6 reports whether a shoot has IPv6 and no other IP family.
func OnlyIPv6(n *gardencorev1beta1.Networking) bool {
	return slices.Equal(n.IPFamilies, []gardencorev1beta1.IPFamily{gardencorev1beta1.IPFamilyIPv6})
}

func networksOf(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) []network {
	pods, services := DefaultNetworks(&shoot.Spec, seed)
	var all []network
	add := func(name string, cidrs ...string) {
		for _, cidr := range cidrs {
			all = append(all, network{name: name, cidr: cidr})
		}
	}
	for _, one := range []struct {
		name string
		cidr *string
	}{{"nodes", shoot.Spec.Networking.Nodes}, {"pods", pods}, {"services", services}} {
		if one.cidr != nil {
			add(one.name, *one.cidr)
		}
	}
	if status := shoot.Status.Networking; status != nil {
		add("nodes", status.Nodes...)
		add("pods", status.Pods...)
		add("services", status.Services...)
	}
	return all
}

// DefaultNetworks returns the networks for pods and Services of a shoot on a seed: its own, or the seed's defaults if it has
// none. Only shoots of the IP family of a default get it, and only shoots with workers get the default for pods.
func DefaultNetworks(s *gardencorev1beta1.ShootSpec, seed *gardencorev1beta1.Seed) (pods, services *string) {
	n := s.Networking
	pods, services = n.Pods, n.Services
	defaults := seed.Spec.Networks.ShootDefaults
	if defaults == nil {
		return pods, services
	}
	if pods == nil && !Workerless(s) && ofFamily(n.IPFamilies, defaults.Pods) {
		pods = defaults.Pods
	}
	if services == nil && ofFamily(n.IPFamilies, defaults.Services) {
		services = defaults.Services
	}
	return pods, services
}

// ofFamily reports whether a range belongs to one of the families; no families mean IPv4.
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

// overlapIPv6 reports whether two ranges share an IPv6 address.
func overlapIPv6(a, b string) bool {
	first, err := netip.ParsePrefix(a)
	return err == nil && first.Addr().Is6() && Overlap(a, b)
}

// Overlap reports whether two ranges share an address. It is false if one of them is not a valid CIDR, which validation
// reports.
func Overlap(a, b string) bool {
	first, err := netip.ParsePrefix(a)
	if err != nil {
		return false
	}
	second, err := netip.ParsePrefix(b)
	return err == nil && first.Overlaps(second)
}
