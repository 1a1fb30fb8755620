// SPDX-License-Identifier: Apache-2.0

package v1beta1

// SetDefaultsNamespacedCloudProfile makes machine and volume types usable. Architectures are left open: the parent
// decides whether they are told by capabilities.
func SetDefaultsNamespacedCloudProfile(p *NamespacedCloudProfile) {
	for i := range p.Spec.MachineTypes {
		setDefault(&p.Spec.MachineTypes[i].Usable, true)
	}
	for i := range p.Spec.VolumeTypes {
		setDefault(&p.Spec.VolumeTypes[i].Usable, true)
	}
}
