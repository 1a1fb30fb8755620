// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// referProfile turns the older way to name a profile into the newer one (API-SHOOTSTRAT-9).
func referProfile(s *gardencorev1beta1.ShootSpec) {
	if s.CloudProfile == nil && s.CloudProfileName != nil {
		s.CloudProfile = &gardencorev1beta1.CloudProfileReference{
			Kind: gardencorev1beta1.CloudProfileReferenceKindCloudProfile, Name: *s.CloudProfileName,
		}
	}
	if s.CloudProfile == nil {
		return
	}
	if s.CloudProfile.Kind == "" {
		s.CloudProfile.Kind = gardencorev1beta1.CloudProfileReferenceKindCloudProfile
	}
	if s.CloudProfileName != nil && *s.CloudProfileName == s.CloudProfile.Name {
		s.CloudProfileName = nil
	}
}

// complete chooses versions and images that are left open.
func complete(s *gardencorev1beta1.ShootSpec, o offer) {
	if strings.Count(s.Kubernetes.Version, ".") < 2 {
		if v, found := o.newest(o.profile.Kubernetes.Versions, s.Kubernetes.Version); found {
			s.Kubernetes.Version = v
		}
	}
	for i := range s.Provider.Workers {
		completeImage(&s.Provider.Workers[i].Machine, o)
	}
}

func completeImage(m *gardencorev1beta1.Machine, o offer) {
	if t := o.machineType(m.Type); m.Architecture == nil && t != nil {
		m.Architecture = t.Architecture
	}
	if m.Image == nil {
		if len(o.profile.MachineImages) == 0 {
			return
		}
		m.Image = &gardencorev1beta1.ShootMachineImage{Name: o.profile.MachineImages[0].Name}
	}
	image := o.image(m.Image.Name)
	if m.Image.Version != nil && strings.Count(*m.Image.Version, ".") >= 2 || image == nil {
		return
	}
	prefix := ""
	if m.Image.Version != nil {
		prefix = *m.Image.Version
	}
	if v, found := o.newest(versionsOf(image), prefix); found {
		m.Image.Version = &v
	}
}
