// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func machineImages(all []gardencorev1beta1.MachineImage, path *field.Path) field.ErrorList {
	if len(all) == 0 {
		return field.ErrorList{field.Required(path, "at least one machine image must be offered")}
	}
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, image := range all {
		here := path.Index(i)
		names = append(names, image.Name)
		errs = append(errs, required(image.Name, here.Child("name"), "a machine image")...)
		if image.UpdateStrategy != nil {
			errs = append(errs, oneOf(*image.UpdateStrategy, here.Child("updateStrategy"), gardencorev1beta1.MachineImageUpdateStrategyPatch,
				gardencorev1beta1.MachineImageUpdateStrategyMinor, gardencorev1beta1.MachineImageUpdateStrategyMajor)...)
		}
		if len(image.Versions) == 0 {
			errs = append(errs, field.Required(here.Child("versions"), "at least one version must be offered"))
		}
		versions := make([]string, 0, len(image.Versions))
		for j, v := range image.Versions {
			versions = append(versions, v.Version)
			errs = append(errs, machineImageVersion(v, here.Child("versions").Index(j))...)
		}
		errs = append(errs, duplicates(versions, here.Child("versions").Index)...)
	}
	return append(errs, duplicates(names, path.Index)...)
}

func machineImageVersion(v gardencorev1beta1.MachineImageVersion, path *field.Path) field.ErrorList {
	errs := stages(v.ExpirableVersion, path)
	if _, ok := parsed(v.Version); !ok {
		errs = append(errs, field.Invalid(path.Child("version"), v.Version, "must be a semantic version"))
	}
	for i, a := range v.Architectures {
		errs = append(errs, architecture(a, path.Child("architectures").Index(i))...)
	}
	errs = append(errs, duplicates(v.Architectures, path.Child("architectures").Index)...)
	names := make([]string, 0, len(v.CRI))
	for i, c := range v.CRI {
		errs = append(errs, containerRuntime(c, path.Child("cri").Index(i))...)
		names = append(names, string(c.Name))
	}
	errs = append(errs, duplicates(names, path.Child("cri").Index)...)
	if u := v.InPlaceUpdates; u != nil && u.MinVersionForUpdate != nil {
		if _, ok := parsed(*u.MinVersionForUpdate); !ok {
			errs = append(errs, field.Invalid(path.Child("inPlaceUpdates", "minVersionForUpdate"), *u.MinVersionForUpdate, "must be a semantic version"))
		}
	}
	return errs
}

func architecture(name string, path *field.Path) field.ErrorList {
	return oneOf(name, path, gardencorev1beta1.ArchitectureAMD64, gardencorev1beta1.ArchitectureARM64)
}

func machineTypes(all []gardencorev1beta1.MachineType, path *field.Path) field.ErrorList {
	if len(all) == 0 {
		return field.ErrorList{field.Required(path, "at least one machine type must be offered")}
	}
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i := range all {
		t, here := &all[i], path.Index(i)
		names = append(names, t.Name)
		errs = append(errs, required(t.Name, here.Child("name"), "a machine type")...)
		errs = append(errs, quantities([]amountOf{{"cpu", &t.CPU}, {"gpu", &t.GPU}, {"memory", &t.Memory}}, here)...)
		if t.Architecture != nil {
			errs = append(errs, architecture(*t.Architecture, here.Child("architecture"))...)
		}
		if s := t.Storage; s != nil {
			errs = append(errs, quantities([]amountOf{{"minSize", s.MinSize}, {"size", s.Size}}, here.Child("storage"))...)
			if (s.MinSize == nil) == (s.Size == nil) {
				errs = append(errs, field.Invalid(here.Child("storage"), t.Name, "must have either a size or a minSize"))
			}
		}
	}
	return append(errs, duplicates(names, path.Index)...)
}

// capabilities checks that what can be told apart about machines is defined once, and used as it is defined.
func capabilities(s *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(s.MachineCapabilities))
	defined := map[string][]string{}
	for i, d := range s.MachineCapabilities {
		here := path.Child("machineCapabilities").Index(i)
		errs = append(errs, required(d.Name, here.Child("name"), "a capability")...)
		if len(d.Values) == 0 {
			errs = append(errs, field.Required(here.Child("values"), "a capability has at least one value"))
		}
		errs = append(errs, duplicates(d.Values, here.Child("values").Index)...)
		names = append(names, d.Name)
		defined[d.Name] = d.Values
	}
	errs = append(errs, duplicates(names, path.Child("machineCapabilities").Index)...)
	for i := range s.MachineTypes {
		here := path.Child("machineTypes").Index(i).Child("capabilities")
		errs = append(errs, ofCapabilities(s.MachineTypes[i].Capabilities, defined, here)...)
	}
	for i := range s.MachineImages {
		for j, v := range s.MachineImages[i].Versions {
			here := path.Child("machineImages").Index(i).Child("versions").Index(j).Child("capabilityFlavors")
			for k, flavor := range v.CapabilityFlavors {
				errs = append(errs, ofCapabilities(flavor.Capabilities, defined, here.Index(k))...)
			}
		}
	}
	return errs
}

func ofCapabilities(all gardencorev1beta1.Capabilities, defined map[string][]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(all)) {
		values := all[name]
		known, ok := defined[name]
		if !ok {
			errs = append(errs, field.Invalid(path.Key(name), name, "is not defined in machineCapabilities"))
			continue
		}
		for i, value := range values {
			if !slices.Contains(known, value) {
				errs = append(errs, field.NotSupported(path.Key(name).Index(i), value, known))
			}
		}
	}
	return errs
}

// bastion checks that bastions are made of what the profile offers.
func bastion(s *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	if s.Bastion == nil {
		return nil
	}
	var errs field.ErrorList
	if m := s.Bastion.MachineImage; m != nil {
		i := slices.IndexFunc(s.MachineImages, func(image gardencorev1beta1.MachineImage) bool { return image.Name == m.Name })
		here := path.Child("machineImage")
		switch {
		case i < 0:
			errs = append(errs, field.Invalid(here.Child("name"), m.Name, "is no machine image of the profile"))
		case m.Version != nil && !slices.ContainsFunc(s.MachineImages[i].Versions, func(v gardencorev1beta1.MachineImageVersion) bool {
			return v.Version == *m.Version
		}):
			errs = append(errs, field.Invalid(here.Child("version"), *m.Version, "is no version of the machine image"))
		}
	}
	if m := s.Bastion.MachineType; m != nil &&
		!slices.ContainsFunc(s.MachineTypes, func(t gardencorev1beta1.MachineType) bool { return t.Name == m.Name }) {
		errs = append(errs, field.Invalid(path.Child("machineType", "name"), m.Name, "is no machine type of the profile"))
	}
	return errs
}
