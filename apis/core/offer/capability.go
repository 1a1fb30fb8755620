// SPDX-License-Identifier: Apache-2.0

package offer

import (
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// architecture is the capability that every profile with capabilities has.
const architecture = "architecture"

// capable reports whether a flavor of an image and a machine have a common value for each capability of the profile.
func (o Offer) capable(v gardencorev1beta1.MachineImageVersion, m Machine) bool {
	machine := gardencorev1beta1.Capabilities{}
	if t := o.MachineType(m.Type); t != nil {
		machine = t.Capabilities
	}
	return slices.ContainsFunc(v.CapabilityFlavors, func(f gardencorev1beta1.MachineImageFlavor) bool {
		for _, c := range o.Profile.MachineCapabilities {
			common := meet(values(machine, c), values(f.Capabilities, c))
			if c.Name == architecture && m.Architecture != "" {
				common = meet(common, []string{m.Architecture})
			}
			if len(common) == 0 {
				return false
			}
		}
		return true
	})
}

// values returns the values of one capability: all values in the profile if none are given.
func values(of gardencorev1beta1.Capabilities, c gardencorev1beta1.CapabilityDefinition) []string {
	if some := of[c.Name]; len(some) > 0 {
		return some
	}
	return c.Values
}

func meet(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(v string) bool { return !slices.Contains(b, v) })
}

// ArchitectureOf returns the architecture of a machine type: the given one, or amd64.
func ArchitectureOf(t *gardencorev1beta1.MachineType) string {
	switch {
	case t == nil:
		return gardencorev1beta1.ArchitectureAMD64
	case t.Architecture != nil && *t.Architecture != "":
		return *t.Architecture
	case len(t.Capabilities[architecture]) == 1:
		return t.Capabilities[architecture][0]
	default:
		return gardencorev1beta1.ArchitectureAMD64
	}
}
