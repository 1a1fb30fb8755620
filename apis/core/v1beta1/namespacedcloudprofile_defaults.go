// SPDX-License-Identifier: Apache-2.0

package v1beta1

// SetDefaultsNamespacedCloudProfile makes machine and volume types usable. Architectures have no default, because it depends
// on the parent whether they are given as capabilities.
func SetDefaultsNamespacedCloudProfile(p *NamespacedCloudProfile) {
	for i := range p.Spec.MachineTypes {
		setDefault(&p.Spec.MachineTypes[i].Usable, true)
	}
	for i := range p.Spec.VolumeTypes {
		setDefault(&p.Spec.VolumeTypes[i].Usable, true)
	}
}
