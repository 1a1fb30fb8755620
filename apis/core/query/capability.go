// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ArchitecturesOf lists the architectures that flavors name, in their order. If no flavor names one and only one is defined,
// it is that one.
func ArchitecturesOf(
	flavors []gardencorev1beta1.MachineImageFlavor, definitions []gardencorev1beta1.CapabilityDefinition,
) []string {
	var all []string
	for _, f := range flavors {
		for _, a := range f.Capabilities[gardencorev1beta1.CapabilityArchitecture] {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, d := range definitions {
		if d.Name == gardencorev1beta1.CapabilityArchitecture && len(d.Values) == 1 {
			return slices.Clone(d.Values)
		}
	}
	return nil
}

// AlignArchitectures sets the older fields for architectures of a profile with capabilities to what its capabilities say:
// for each machine type and each version of an image. Architectures that only the older fields name become capabilities. A
// profile without capabilities is not changed.
func AlignArchitectures(s *gardencorev1beta1.CloudProfileSpec) {
	if len(s.MachineCapabilities) == 0 {
		return
	}
	for i := range s.MachineImages {
		for j := range s.MachineImages[i].Versions {
			alignImage(&s.MachineImages[i].Versions[j], s.MachineCapabilities)
		}
	}
	for i := range s.MachineTypes {
		alignType(&s.MachineTypes[i], s.MachineCapabilities)
	}
}

func alignImage(v *gardencorev1beta1.MachineImageVersion, definitions []gardencorev1beta1.CapabilityDefinition) {
	if len(v.CapabilityFlavors) == 0 && len(ArchitecturesOf(nil, definitions)) == 0 {
		for _, a := range v.Architectures {
			v.CapabilityFlavors = append(v.CapabilityFlavors, gardencorev1beta1.MachineImageFlavor{
				Capabilities: gardencorev1beta1.Capabilities{gardencorev1beta1.CapabilityArchitecture: {a}},
			})
		}
	}
	if all := ArchitecturesOf(v.CapabilityFlavors, definitions); len(all) > 0 {
		v.Architectures = all
	}
}

func alignType(t *gardencorev1beta1.MachineType, definitions []gardencorev1beta1.CapabilityDefinition) {
	named := t.Capabilities[gardencorev1beta1.CapabilityArchitecture]
	if len(named) == 0 && t.Architecture != nil && *t.Architecture != "" && len(ArchitecturesOf(nil, definitions)) == 0 {
		if t.Capabilities == nil {
			t.Capabilities = gardencorev1beta1.Capabilities{}
		}
		t.Capabilities[gardencorev1beta1.CapabilityArchitecture] = []string{*t.Architecture}
	}
	own := []gardencorev1beta1.MachineImageFlavor{{Capabilities: t.Capabilities}}
	if all := ArchitecturesOf(own, definitions); len(all) == 1 {
		t.Architecture = &all[0]
	}
}
