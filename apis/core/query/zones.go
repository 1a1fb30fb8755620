// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Zones returns the zones of all worker pools of a shoot, each once, in alphabetical order.
func Zones(s *gardencorev1beta1.ShootSpec) []string {
	var zones []string
	for i := range s.Provider.Workers {
		zones = append(zones, s.Provider.Workers[i].Zones...)
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// SurvivesZone reports whether the control plane of a shoot has to survive the loss of a zone.
func SurvivesZone(s *gardencorev1beta1.ShootSpec) bool {
	plane := s.ControlPlane
	return plane != nil && plane.HighAvailability != nil &&
		plane.HighAvailability.FailureTolerance.Type == gardencorev1beta1.FailureToleranceTypeZone
}
