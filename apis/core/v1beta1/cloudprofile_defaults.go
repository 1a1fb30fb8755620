// SPDX-License-Identifier: Apache-2.0

package v1beta1

// SetDefaultsCloudProfile fills in architectures, container runtimes and usability (API-DEF-15).
func SetDefaultsCloudProfile(c *CloudProfile) {
	plain := len(c.Spec.MachineCapabilities) == 0
	for i := range c.Spec.MachineImages {
		image := &c.Spec.MachineImages[i]
		setDefault(&image.UpdateStrategy, MachineImageUpdateStrategyMajor)
		for j := range image.Versions {
			v := &image.Versions[j]
			if plain && len(v.Architectures) == 0 {
				v.Architectures = []string{ArchitectureAMD64}
			}
			if len(v.CRI) == 0 {
				v.CRI = []CRI{{Name: CRINameContainerd}}
			}
		}
	}
	for i := range c.Spec.MachineTypes {
		t := &c.Spec.MachineTypes[i]
		setDefault(&t.Usable, true)
		if plain {
			setDefault(&t.Architecture, ArchitectureAMD64)
		}
	}
	for i := range c.Spec.VolumeTypes {
		setDefault(&c.Spec.VolumeTypes[i].Usable, true)
	}
}
