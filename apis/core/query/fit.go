// SPDX-License-Identifier: Apache-2.0

package query

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// The functions below say, like those in seed.go, what speaks against a seed as the home of a shoot.

// Unusable says why a seed takes no shoots at present (SCHED-FILT-1).
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

// brokenBackups speaks against a seed whose backup buckets are broken, or not judged yet. A seed without any bucket is
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

// Stopped says that an operator has stopped everything on a seed (SCHED-FILT-9).
func Stopped(seed *gardencorev1beta1.Seed) string {
	if EmergencyStopped(seed) {
		return "reconciliation of its shoots is stopped (annotation " + gardencorev1beta1.AnnotationSeedEmergencyStop + ")"
	}
	return ""
}

// ForeignDomain compares the domain of a shoot with the default domains of a seed (SCHED-FILT-8): one of them must be
// above the place that belongs to the shoot.
func ForeignDomain(shoot *gardencorev1beta1.Shoot, project string, seed *gardencorev1beta1.Seed) string {
	domain := Domain(shoot.Spec.DNS)
	for _, d := range seed.Spec.DNS.Defaults {
		if domain == shoot.Name+"."+project+"."+d.Domain {
			return ""
		}
	}
	return fmt.Sprintf("it has no default domain in which domain %q is the shoot's own", domain)
}

// BelowDefault reports whether a domain lies below a default domain of a seed.
func BelowDefault(domain string, seed *gardencorev1beta1.Seed) bool {
	return slices.ContainsFunc(seed.Spec.DNS.Defaults, func(d gardencorev1beta1.SeedDNSProviderConfig) bool { return Below(domain, d.Domain) })
}

// MissingControlPlaneZone says which of the zones that a shoot asks for its control plane a seed lacks (SCHED-FILT-6).
func MissingControlPlaneZone(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	if shoot.Spec.ControlPlane == nil {
		return ""
	}
	for _, zone := range shoot.Spec.ControlPlane.Zones {
		if !slices.Contains(seed.Spec.Provider.Zones, zone) {
			return fmt.Sprintf("it does not have zone %q, which the shoot asks for its control plane", zone)
		}
	}
	return ""
}

// NoSharedZone speaks against a seed that insists on a zone in common with the workers and has none (SCHED-FILT-6).
func NoSharedZone(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	if ZoneMode(seed) != gardencorev1beta1.ZoneSelectionModeEnforce || SharesZone(shoot, seed) {
		return ""
	}
	return fmt.Sprintf("it insists on a zone in common with the workers of the shoot, and has %s", strings.Join(seed.Spec.Provider.Zones, ", "))
}

// ZoneMode is what a seed wants of the zones of workers; empty, it wants nothing.
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

// Full says that a seed which runs a number of shoots has no room for one more (SCHED-FILT-10d, API-SVAL-4).
func Full(seed *gardencorev1beta1.Seed, used int64) string {
	limit, limited := seed.Status.Allocatable[gardencorev1beta1.ResourceShoots]
	if !limited || used < limit.Value() {
		return ""
	}
	return fmt.Sprintf("it is full (%d of %d shoots)", used, limit.Value())
}

// Elsewhere says that a seed is of another provider than the shoot.
func Elsewhere(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) string {
	if seed.Spec.Provider.Type == shoot.Spec.Provider.Type {
		return ""
	}
	return fmt.Sprintf("its provider type is %q, the shoot needs %q", seed.Spec.Provider.Type, shoot.Spec.Provider.Type)
}
