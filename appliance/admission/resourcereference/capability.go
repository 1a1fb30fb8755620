// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"fmt"
	"maps"
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// capabilities maps every value of every capability that a profile defines to itself, as in boot=uefi.
func capabilities(s *gardencorev1beta1.CloudProfileSpec) map[string]bool {
	all := map[string]bool{}
	for _, c := range s.MachineCapabilities {
		for _, value := range c.Values {
			all[c.Name+"="+value] = true
		}
	}
	return all
}

// stripped rejects the removal of capabilities from a profile that a profile of a project uses (API-RRM-10).
func stripped(heir *gardencorev1beta1.NamespacedCloudProfile, gone map[string]bool) []error {
	used := map[string]string{}
	note := func(what string, c gardencorev1beta1.Capabilities) {
		for name, values := range c {
			for _, value := range values {
				if gone[name+"="+value] {
					used[name+"="+value] = what
				}
			}
		}
	}
	for _, t := range heir.Spec.MachineTypes {
		note("machine type "+t.Name, t.Capabilities)
	}
	for _, image := range heir.Spec.MachineImages {
		for _, v := range image.Versions {
			for _, f := range v.CapabilityFlavors {
				note(machineImage+image.Name+" "+v.Version, f.Capabilities)
			}
		}
	}
	errs := make([]error, 0, len(used))
	for _, capability := range slices.Sorted(maps.Keys(used)) {
		errs = append(errs, fmt.Errorf("spec.machineCapabilities: %s cannot be removed: %s of NamespacedCloudProfile %s/%s has it",
			capability, used[capability], heir.Namespace, heir.Name))
	}
	return errs
}
