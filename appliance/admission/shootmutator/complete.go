// SPDX-License-Identifier: Apache-2.0

package shootmutator

import (
	"github.com/terrarium-garden/terrarium/apis/core/offer"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// referProfile completes the reference to a profile, and removes the older name if it is the same. A name without a
// reference is handled by the storage, depending on the version of Kubernetes (API-SHOOTSTRAT-9).
func referProfile(s *gardencorev1beta1.ShootSpec) {
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

// complete chooses versions and images that are not given or not complete. The current ones of the shoot are kept if they
// match, so that a manifest that is applied again never replaces machines (API-SMUT-4, 5).
func complete(s, old *gardencorev1beta1.ShootSpec, o offer.Offer) {
	s.Kubernetes.Version = completeVersion(s.Kubernetes.Version, old.Kubernetes.Version, o)
	for i := range s.Provider.Workers {
		w := &s.Provider.Workers[i]
		was := query.Pool(old, w.Name)
		if was == nil {
			was = &gardencorev1beta1.Worker{}
		}
		completeImage(w, &was.Machine, o)
		if w.Kubernetes != nil && w.Kubernetes.Version != nil {
			have := s.Kubernetes.Version
			if was.Kubernetes != nil && was.Kubernetes.Version != nil {
				have = *was.Kubernetes.Version
			}
			w.Kubernetes.Version = new(completeVersion(*w.Kubernetes.Version, have, o))
		}
	}
}

// completeVersion replaces an incomplete version by the current one, if that matches, or else by the highest supported one.
func completeVersion(value, have string, o offer.Offer) string {
	if !query.Partial(value) {
		return value
	}
	if have != "" && query.Continues(have, value) {
		return have
	}
	if v := query.Newest(o.Profile.Kubernetes.Versions, value, o.Now, gardencorev1beta1.VersionClassificationSupported); v != "" {
		return v
	}
	return value
}

func completeImage(w *gardencorev1beta1.Worker, was *gardencorev1beta1.Machine, o offer.Offer) {
	m := &w.Machine
	if m.Architecture == nil {
		m.Architecture = new(offer.ArchitectureOf(o.MachineType(m.Type)))
	}
	if m.Image == nil && was.Image != nil {
		m.Image = was.Image.DeepCopy()
		return
	}
	machine := offer.MachineOf(w)
	if m.Image == nil {
		name := o.FirstImage(machine)
		if name == "" {
			return // Validation rejects it.
		}
		m.Image = &gardencorev1beta1.ShootMachineImage{Name: name}
	}
	asked := ""
	if m.Image.Version != nil {
		asked = *m.Image.Version
	}
	if !query.Partial(asked) {
		return
	}
	same := was.Image != nil && was.Image.Name == m.Image.Name && was.Image.Version != nil
	if same && query.Continues(*was.Image.Version, asked) {
		m.Image.Version = new(*was.Image.Version)
		return
	}
	if v := o.NewestImage(m.Image.Name, asked, machine); v != "" {
		m.Image.Version = &v
	}
}
