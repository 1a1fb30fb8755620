// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Zones are those of all worker pools of a shoot, each once, in alphabetical order.
func Zones(s *gardencorev1beta1.ShootSpec) []string {
	var zones []string
	for i := range s.Provider.Workers {
		zones = append(zones, s.Provider.Workers[i].Zones...)
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}
