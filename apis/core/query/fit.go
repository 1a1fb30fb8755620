// SPDX-License-Identifier: Apache-2.0

package query

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// The functions below return, like those in seed.go, the reason why a seed cannot take a shoot.

// Unusable returns the reason why a seed does not take shoots at present (SCHED-FILT-1).
func Unusable(seed *gardencorev1beta1.Seed) string {
	if seed.DeletionTimestamp != nil {
		return "it is being deleted"
	}
	if settings := seed.Spec.Settings; settings != nil && settings.Scheduling != nil && !settings.Scheduling.Visible {
		return "it is hidden from the scheduler (spec.settings.scheduling.visible is false)"
	}
	if seed.Status.LastOperation == nil {
		return "its gardenlet has not prepared it yet (no last operation)"
	}
	if reason := notTrue(seed, gardencorev1beta1.ConditionTypeGardenletReady); reason != "" {
		return reason
	}
	return brokenBackups(seed)
}

// brokenBackups rejects a seed whose backup buckets are broken or have not been checked yet. A seed without a bucket is
// usable: it runs its shoots without backups, and its condition says so.
func brokenBackups(seed *gardencorev1beta1.Seed) string {
	const kind = gardencorev1beta1.ConditionTypeBackupBucketsReady
	condition := FindCondition(seed.Status.Conditions, kind)
	if seed.Spec.Backup == nil || condition != nil && condition.Reason == gardencorev1beta1.ReasonBackupBucketsGone {
		return ""
	}
	return notTrue(seed, kind)
}

func notTrue(seed *gardencorev1beta1.Seed, kind gardencorev1beta1.ConditionType) string {
	condition := FindCondition(seed.Status.Conditions, kind)
	switch {
	case condition == nil:
		return fmt.Sprintf("its condition %s is missing", kind)
	case condition.Status == gardencorev1beta1.ConditionTrue:
		return ""
	default:
		return fmt.Sprintf("its condition %s is %s (%s)", kind, condition.Status, condition.Reason)
	}
}

// Stopped rejects a seed on which an operator has stopped all reconciliations (SCHED-FILT-9).
func Stopped(seed *gardencorev1beta1.Seed) string {
	if EmergencyStopped(seed) {
		return "reconciliation of its shoots is stopped (annotation " + gardencorev1beta1.AnnotationSeedEmergencyStop + ")"
	}
	return ""
}

// DefaultDomains returns the default domains of shoots on a seed: those of the seed, or else those of the garden (API-DNS-1).
func DefaultDomains(seed *gardencorev1beta1.Seed, garden []string) []string {
	if len(seed.Spec.DNS.Defaults) == 0 {
		return garden
	}
	domains := make([]string, 0, len(seed.Spec.DNS.Defaults))
	for _, d := range seed.Spec.DNS.Defaults {
		domains = append(domains, d.Domain)
	}
	return domains
}

// ForeignDomain rejects a seed without a default domain in which the domain of the shoot is the shoot's own, which is
// <shoot>.<project>.<default domain>. The domains of the garden are those of a seed without its own (SCHED-FILT-8).
func ForeignDomain(shoot *gardencorev1beta1.Shoot, project string, seed *gardencorev1beta1.Seed, garden []string) string {
	domain := Domain(shoot.Spec.DNS)
	for _, d := range DefaultDomains(seed, garden) {
		if domain == shoot.Name+"."+project+"."+d {
			return ""
		}
	}
	return fmt.Sprintf("it has no default domain in which domain %q is the shoot's own", domain)
}

// NoNames rejects a seed that makes no DNS names for shoots if the shoot has a DNS section, which may not be on such a seed, whoever
// makes its names (SCHED-FILT-10b, API-DNS-3).
func NoNames(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	if shoot.Spec.DNS == nil || MakesNames(seed) {
		return ""
	}
	return "it has DNS names for shoots disabled, and the shoot has a DNS section"
}

// MakesNames reports whether a seed makes DNS names for shoots.
func MakesNames(seed *gardencorev1beta1.Seed) bool {
	settings := seed.Spec.Settings
	return settings == nil || settings.ShootDNS == nil || settings.ShootDNS.Enabled
}

// MissingControlPlaneZone rejects a seed without one of the zones that a shoot names for its control plane (SCHED-FILT-6).
func MissingControlPlaneZone(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	if shoot.Spec.ControlPlane == nil {
		return ""
	}
	for _, zone := range shoot.Spec.ControlPlane.Zones {
		if !slices.Contains(seed.Spec.Provider.Zones, zone) {
			return fmt.Sprintf("it does not have zone %q, which the shoot names for its control plane", zone)
		}
	}
	return ""
}

// NoSharedZone rejects a seed that requires a zone in common with the workers and has none. A shoot without workers fits everywhere
// (SCHED-FILT-6).
func NoSharedZone(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	if ZoneMode(seed) != gardencorev1beta1.ZoneSelectionModeEnforce || Workerless(&shoot.Spec) || SharesZone(shoot, seed) {
		return ""
	}
	return fmt.Sprintf("it requires a zone in common with the workers of the shoot and has only %s", strings.Join(seed.Spec.Provider.Zones, ", "))
}

// ZoneMode returns how a seed matches its zones with those of workers; it is empty if the seed does not match them.
func ZoneMode(seed *gardencorev1beta1.Seed) gardencorev1beta1.ZoneSelectionMode {
	if seed.Spec.Settings == nil || seed.Spec.Settings.ZoneSelection == nil {
		return ""
	}
	return seed.Spec.Settings.ZoneSelection.Mode
}

// SharesZone reports whether a seed has a zone in common with the workers of a shoot.
func SharesZone(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) bool {
	return slices.ContainsFunc(Zones(&shoot.Spec), func(zone string) bool { return slices.Contains(seed.Spec.Provider.Zones, zone) })
}

// Full rejects a seed that already runs as many shoots as its capacity allows (SCHED-FILT-10d, API-SVAL-4).
func Full(seed *gardencorev1beta1.Seed, used int64) string {
	limit, limited := seed.Status.Allocatable[gardencorev1beta1.ResourceShoots]
	if !limited || used < limit.Value() {
		return ""
	}
	return fmt.Sprintf("it is full (%d of %d shoots)", used, limit.Value())
}

// Elsewhere rejects a seed of another provider type than the shoot's.
func Elsewhere(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	if seed.Spec.Provider.Type == shoot.Spec.Provider.Type {
		return ""
	}
	return fmt.Sprintf("its provider type is %q, the shoot needs %q", seed.Spec.Provider.Type, shoot.Spec.Provider.Type)
}
