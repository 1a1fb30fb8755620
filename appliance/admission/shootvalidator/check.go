// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// check holds a shoot against what its profile offers; what did not change passes (API-SVAL-13 to 17).
func check(q request, o offer) field.ErrorList {
	path := field.NewPath("spec")
	spec, old := &q.shoot.Spec, &q.old.Spec
	var errs field.ErrorList
	if spec.Provider.Type != o.profile.Type {
		errs = append(errs, field.NotSupported(path.Child("provider", "type"), spec.Provider.Type, []string{o.profile.Type}))
	}
	errs = append(errs, checkVersion(spec.Kubernetes.Version, old.Kubernetes.Version, path.Child("kubernetes", "version"), o)...)
	region := o.region(spec.Region)
	if region == nil && spec.Region != old.Region {
		errs = append(errs, field.NotSupported(path.Child("region"), spec.Region, names(o.profile.Regions, regionName)))
	}
	for i := range spec.Provider.Workers {
		w := &spec.Provider.Workers[i]
		here := path.Child("provider", "workers").Index(i)
		was := pool(old, w.Name)
		errs = append(errs, checkMachineType(w, was, region, here.Child("machine", "type"), o)...)
		errs = append(errs, checkImage(w, was, here.Child("machine", "image"), o)...)
		errs = append(errs, checkZones(w, was, region, here.Child("zones"))...)
	}
	return errs
}

func pool(s *gardencorev1beta1.ShootSpec, name string) *gardencorev1beta1.Worker {
	for i := range s.Provider.Workers {
		if s.Provider.Workers[i].Name == name {
			return &s.Provider.Workers[i]
		}
	}
	return &gardencorev1beta1.Worker{}
}

// checkVersion holds API-SVAL-13.
func checkVersion(value, old string, path *field.Path, o offer) field.ErrorList {
	if value == "" || value == old {
		return nil
	}
	var offered []string
	for _, v := range o.profile.Kubernetes.Versions {
		if v.Version == value && (o.active(v) || old != "") {
			return nil
		}
		if !o.active(v) {
			continue
		}
		mark := ""
		if o.stage(v) == gardencorev1beta1.VersionClassificationPreview {
			mark = " (preview)"
		}
		offered = append(offered, v.Version+mark)
	}
	return field.ErrorList{field.NotSupported(path, value, offered)}
}

// checkMachineType holds API-SVAL-14.
func checkMachineType(
	w, was *gardencorev1beta1.Worker, region *gardencorev1beta1.Region, path *field.Path, o offer,
) field.ErrorList {
	if w.Machine.Type == was.Machine.Type {
		return nil
	}
	t := o.machineType(w.Machine.Type)
	if t == nil || t.Usable != nil && !*t.Usable {
		return field.ErrorList{field.NotSupported(path, w.Machine.Type, usableTypes(o.profile.MachineTypes))}
	}
	if t.Architecture != nil && w.Machine.Architecture != nil && *t.Architecture != *w.Machine.Architecture {
		return field.ErrorList{field.Invalid(path, w.Machine.Type, "is of architecture "+*t.Architecture)}
	}
	if region == nil {
		return nil
	}
	for _, z := range region.Zones {
		if slices.Contains(w.Zones, z.Name) && slices.Contains(z.UnavailableMachineTypes, w.Machine.Type) {
			return field.ErrorList{field.Invalid(path, w.Machine.Type, "is not available in zone "+z.Name)}
		}
	}
	return nil
}

// checkImage holds API-SVAL-15.
func checkImage(w, was *gardencorev1beta1.Worker, path *field.Path, o offer) field.ErrorList {
	if w.Machine.Image == nil {
		return field.ErrorList{field.Required(path, "the CloudProfile offers no image to choose from")}
	}
	image := o.image(w.Machine.Image.Name)
	if image == nil {
		all := names(o.profile.MachineImages, func(m gardencorev1beta1.MachineImage) string { return m.Name })
		return field.ErrorList{field.NotSupported(path.Child("name"), w.Machine.Image.Name, all)}
	}
	version := w.Machine.Image.Version
	if version == nil {
		return field.ErrorList{field.Required(path.Child("version"), "the CloudProfile offers no version that has not expired")}
	}
	known := was.Machine.Image != nil && was.Machine.Image.Name == image.Name
	if known && was.Machine.Image.Version != nil && *was.Machine.Image.Version == *version {
		return nil
	}
	var offered []string
	for _, v := range image.Versions {
		if v.Version == *version && (o.active(v.ExpirableVersion) || known) {
			return checkArchitecture(w, v, path)
		}
		if o.active(v.ExpirableVersion) {
			offered = append(offered, v.Version)
		}
	}
	return field.ErrorList{field.NotSupported(path.Child("version"), *version, offered)}
}

func checkArchitecture(
	w *gardencorev1beta1.Worker, v gardencorev1beta1.MachineImageVersion, path *field.Path,
) field.ErrorList {
	if a := w.Machine.Architecture; a != nil && len(v.Architectures) > 0 && !slices.Contains(v.Architectures, *a) {
		return field.ErrorList{field.Invalid(path.Child("version"), v.Version, "is not made for architecture "+*a)}
	}
	return nil
}

// checkZones holds API-SVAL-16.
func checkZones(w, was *gardencorev1beta1.Worker, region *gardencorev1beta1.Region, path *field.Path) field.ErrorList {
	if region == nil || slices.Equal(w.Zones, was.Zones) {
		return nil
	}
	offered := names(region.Zones, func(z gardencorev1beta1.AvailabilityZone) string { return z.Name })
	var errs field.ErrorList
	for i, z := range w.Zones {
		if !slices.Contains(offered, z) {
			errs = append(errs, field.NotSupported(path.Index(i), z, offered))
		}
	}
	if len(w.Zones) == 0 && len(offered) > 0 {
		errs = append(errs, field.Required(path, "region "+region.Name+" has zones; name at least one of them"))
	}
	return errs
}

func regionName(r gardencorev1beta1.Region) string { return r.Name }

func names[T any](all []T, name func(T) string) []string {
	out := make([]string, 0, len(all))
	for _, one := range all {
		out = append(out, name(one))
	}
	return out
}

func usableTypes(all []gardencorev1beta1.MachineType) []string {
	var out []string
	for _, t := range all {
		if t.Usable == nil || *t.Usable {
			out = append(out, t.Name)
		}
	}
	return out
}
