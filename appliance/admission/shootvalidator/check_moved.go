// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/offer"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// moved checks that a profile to which the shoot changes has what the pool keeps, be it expired or no longer usable. Of the profile that
// the shoot has already, unchanged values need not be offered any more; but nobody could make machines of a type that only the former
// profile has, and the quotas that the shoot shares with others could not be added up (API-SVAL-14, 15, API-SHOOTSTRAT-9).
func (c poolCheck) moved(path *field.Path) field.ErrorList {
	if !c.moves {
		return nil
	}
	var errs field.ErrorList
	here := path.Child("machine", "type")
	if name := c.pool.Machine.Type; name == c.was.Machine.Type && c.MachineType(name) == nil {
		errs = append(errs, field.NotSupported(here, name, c.usableTypes()))
	}
	if name := volumeType(c.pool); name != "" && name == volumeType(c.was) && c.VolumeType(name) == nil {
		all := names(c.Profile.VolumeTypes, func(t gardencorev1beta1.VolumeType) string { return t.Name })
		errs = append(errs, field.NotSupported(path.Child("volume", "type"), name, all))
	}
	now, was := c.pool.Machine.Image, c.was.Machine.Image
	if now == nil || was == nil || now.Version == nil || was.Version == nil || now.Name != was.Name || *now.Version != *was.Version {
		return errs
	}
	here = path.Child("machine", "image")
	image := c.Image(now.Name)
	if image == nil {
		all := names(c.Profile.MachineImages, func(m gardencorev1beta1.MachineImage) string { return m.Name })
		return append(errs, field.NotSupported(here.Child("name"), now.Name, all))
	}
	if offer.Find(image.Versions, func(v gardencorev1beta1.MachineImageVersion) bool { return v.Version == *now.Version }) == nil {
		all := names(image.Versions, func(v gardencorev1beta1.MachineImageVersion) string { return v.Version })
		errs = append(errs, field.NotSupported(here.Child("version"), *now.Version, all))
	}
	return errs
}

func volumeType(w *gardencorev1beta1.Worker) string {
	if w.Volume == nil || w.Volume.Type == nil {
		return ""
	}
	return *w.Volume.Type
}
