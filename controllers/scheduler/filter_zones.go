// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// zones is SCHED-FILT-6. Zones that the shoot asks for its control plane must all be there. Otherwise a seed may insist
// on (Enforce), or ask for (Prefer), a zone in common with the workers.
func zones(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed {
	if toleratesZones(in.Shoot) {
		return candidates
	}
	if plane := in.Shoot.Spec.ControlPlane; plane != nil && len(plane.Zones) > 0 {
		return keep(in, candidates, rejected, explicitZones)
	}
	kept := keep(in, candidates, rejected, enforcedZones)
	preferred := make([]*gardencorev1beta1.Seed, 0, len(kept))
	overlap := false
	for _, seed := range kept {
		if zoneMode(seed) != gardencorev1beta1.ZoneSelectionModePrefer {
			preferred = append(preferred, seed)
			continue
		}
		if sharesZone(in.Shoot, seed) {
			overlap = true
			preferred = append(preferred, seed)
		}
	}
	if !overlap {
		return kept
	}
	for _, seed := range kept {
		if !slices.Contains(preferred, seed) {
			rejected[seed.Name] = "other seeds share a zone with the workers of the shoot"
		}
	}
	return preferred
}

func explicitZones(in Input, seed *gardencorev1beta1.Seed) string {
	for _, zone := range in.Shoot.Spec.ControlPlane.Zones {
		if !slices.Contains(seed.Spec.Provider.Zones, zone) {
			return fmt.Sprintf("it does not have zone %q, which the shoot asks for its control plane", zone)
		}
	}
	return ""
}

func enforcedZones(in Input, seed *gardencorev1beta1.Seed) string {
	if zoneMode(seed) != gardencorev1beta1.ZoneSelectionModeEnforce || sharesZone(in.Shoot, seed) {
		return ""
	}
	return fmt.Sprintf("it insists on a zone in common with the workers of the shoot, and has %s", strings.Join(seed.Spec.Provider.Zones, ", "))
}

func zoneMode(seed *gardencorev1beta1.Seed) gardencorev1beta1.ZoneSelectionMode {
	if seed.Spec.Settings == nil || seed.Spec.Settings.ZoneSelection == nil {
		return ""
	}
	return seed.Spec.Settings.ZoneSelection.Mode
}

func sharesZone(shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed) bool {
	for _, worker := range shoot.Spec.Provider.Workers {
		for _, zone := range worker.Zones {
			if slices.Contains(seed.Spec.Provider.Zones, zone) {
				return true
			}
		}
	}
	return false
}
