// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// offeredImages checks the images of a profile of the garden: each has a version, and no two of a minor version are
// classified as supported.
func offeredImages(s *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.MachineImages) == 0 {
		errs = append(errs, field.Required(path, "at least one machine image must be offered"))
	}
	defined := capabilitiesOf(s.MachineCapabilities)
	errs = append(errs, machineImages(s.MachineImages, path)...)
	for i, image := range s.MachineImages {
		here := path.Index(i).Child("versions")
		if len(image.Versions) == 0 {
			errs = append(errs, field.Required(here, "at least one version must be offered"))
		}
		versions := make([]gardencorev1beta1.ExpirableVersion, 0, len(image.Versions))
		for j, v := range image.Versions {
			versions = append(versions, v.ExpirableVersion)
			errs = append(errs, runtimesOf(v.CRI, here.Index(j).Child("cri"))...)
			errs = append(errs, flavors(v, defined, here.Index(j))...)
		}
		errs = append(errs, oneSupported(versions, here)...)
	}
	return errs
}

// machineImages checks images of a profile of the garden or of a project.
func machineImages(all []gardencorev1beta1.MachineImage, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	told := true
	for i, image := range all {
		here := path.Index(i)
		names = append(names, image.Name)
		errs = append(errs, qualified(image.Name, here.Child("name"), "a machine image")...)
		if image.UpdateStrategy != nil {
			errs = append(errs, oneOf(*image.UpdateStrategy, here.Child("updateStrategy"), gardencorev1beta1.MachineImageUpdateStrategyPatch,
				gardencorev1beta1.MachineImageUpdateStrategyMinor, gardencorev1beta1.MachineImageUpdateStrategyMajor)...)
		}
		versions := make([]string, 0, len(image.Versions))
		for j, v := range image.Versions {
			versions = append(versions, v.Version)
			errs = append(errs, machineImageVersion(v, here.Child("versions").Index(j))...)
			_, ok := query.Version(v.Version)
			told = told && ok
		}
		errs = append(errs, duplicates(versions, here.Child("versions").Index)...)
	}
	if !told {
		errs = append(errs, field.Invalid(path, "", "the newest version of each image cannot be determined: versions must be semantic versions"))
	}
	return append(errs, duplicates(names, path.Index)...)
}

func machineImageVersion(v gardencorev1beta1.MachineImageVersion, path *field.Path) field.ErrorList {
	errs := required(v.Version, path.Child("version"), "a version")
	if _, ok := query.Version(v.Version); !ok {
		errs = append(errs, field.Invalid(path.Child("version"), v.Version,
			"must be a semantic version; the extension of the provider can map it to another name of the image"))
	}
	errs = append(errs, stages(v.ExpirableVersion, path)...)
	if u := v.InPlaceUpdates; u != nil && u.MinVersionForUpdate != nil {
		if _, ok := query.Version(*u.MinVersionForUpdate); !ok {
			errs = append(errs, field.Invalid(path.Child("inPlaceUpdates", "minVersionForUpdate"), *u.MinVersionForUpdate, "must be a semantic version"))
		}
	}
	if c := v.KubeletVersionConstraint; c != nil {
		if _, err := semver.NewConstraint(*c); err != nil {
			errs = append(errs, field.Invalid(path.Child("kubeletVersionConstraint"), *c, `must be a range of versions such as ">= 1.30": `+err.Error()))
		}
	}
	return errs
}

// runtimesOf checks the container runtimes in an image: known ones, each once.
func runtimesOf(all []gardencorev1beta1.CRI, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, c := range all {
		here := path.Index(i)
		errs = append(errs, oneOf(c.Name, here.Child("name"), gardencorev1beta1.CRINameContainerd)...)
		names = append(names, string(c.Name))
		types := make([]string, 0, len(c.ContainerRuntimes))
		for _, r := range c.ContainerRuntimes {
			types = append(types, r.Type)
		}
		errs = append(errs, duplicates(types, func(j int) *field.Path { return here.Child("containerRuntimes").Index(j).Child("type") })...)
	}
	return append(errs, duplicates(names, path.Index)...)
}

func architectures() []string {
	return []string{gardencorev1beta1.ArchitectureAMD64, gardencorev1beta1.ArchitectureARM64}
}

// offeredTypes checks the machine types of a profile of the garden.
func offeredTypes(s *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	if len(s.MachineTypes) == 0 {
		return field.ErrorList{field.Required(path, "at least one machine type must be offered")}
	}
	errs := machineTypes(s.MachineTypes, path)
	defined := capabilitiesOf(s.MachineCapabilities)
	for i := range s.MachineTypes {
		errs = append(errs, typeCapabilities(&s.MachineTypes[i], defined, path.Index(i))...)
	}
	return errs
}

// machineTypes checks machine types of a profile of the garden or of a project.
func machineTypes(all []gardencorev1beta1.MachineType, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i := range all {
		t, here := &all[i], path.Index(i)
		names = append(names, t.Name)
		errs = append(errs, qualified(t.Name, here.Child("name"), "a machine type")...)
		errs = append(errs, quantities([]amountOf{{"cpu", &t.CPU}, {"gpu", &t.GPU}, {"memory", &t.Memory}}, here)...)
		if deref(t.Architecture) != "" {
			errs = append(errs, oneOf(*t.Architecture, here.Child("architecture"), architectures()...)...)
		}
		if s := t.Storage; s != nil {
			errs = append(errs, storageNames(s, here.Child("storage"))...)
			errs = append(errs, quantities([]amountOf{{"minSize", s.MinSize}, {"size", s.Size}}, here.Child("storage"))...)
			if (s.MinSize == nil) == (s.Size == nil) {
				errs = append(errs, field.Invalid(here.Child("storage"), t.Name, "must have either a size or a minSize"))
			}
		}
	}
	return append(errs, duplicates(names, namesIn(path))...)
}

// storageNames checks the names of the volume that is part of a machine, if they are given: they are names of a volume type
// and of its class.
func storageNames(s *gardencorev1beta1.MachineTypeStorage, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Type != "" {
		errs = append(errs, qualified(s.Type, path.Child("type"), "a volume type")...)
	}
	if s.Class != "" {
		errs = append(errs, qualified(s.Class, path.Child("class"), "a class")...)
	}
	return errs
}

// bastion checks that the profile offers the image and the machine type of bastions, and that the image is supported and
// runs on the machine type.
func bastion(s *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	b := s.Bastion
	if b == nil {
		return nil
	}
	if b.MachineImage == nil && b.MachineType == nil {
		return field.ErrorList{field.Invalid(path, "", "must name a machine type or a machine image")}
	}
	var errs field.ErrorList
	architecture := ""
	if m := b.MachineType; m != nil {
		i := slices.IndexFunc(s.MachineTypes, func(t gardencorev1beta1.MachineType) bool { return t.Name == m.Name })
		if i < 0 {
			errs = append(errs, field.Invalid(path.Child("machineType", "name"), m.Name, "is not a machine type of the profile"))
		} else {
			architecture = architectureOf(&s.MachineTypes[i], s)
		}
	}
	if b.MachineImage != nil {
		errs = append(errs, bastionImage(s, b.MachineImage, architecture, path.Child("machineImage"))...)
	}
	return errs
}

func bastionImage(
	s *gardencorev1beta1.CloudProfileSpec, m *gardencorev1beta1.BastionMachineImage, architecture string, path *field.Path,
) field.ErrorList {
	i := slices.IndexFunc(s.MachineImages, func(image gardencorev1beta1.MachineImage) bool { return image.Name == m.Name })
	if i < 0 {
		return field.ErrorList{field.Invalid(path.Child("name"), m.Name, "is not a machine image of the profile")}
	}
	versions, here := s.MachineImages[i].Versions, path.Child("name")
	if m.Version != nil {
		here = path.Child("version")
		j := slices.IndexFunc(versions, func(v gardencorev1beta1.MachineImageVersion) bool { return v.Version == *m.Version })
		if j < 0 {
			return field.ErrorList{field.Invalid(here, *m.Version, "is not a version of the machine image")}
		}
		versions = versions[j : j+1]
	}
	if slices.ContainsFunc(versions, func(v gardencorev1beta1.MachineImageVersion) bool {
		return supported(v.ExpirableVersion) && runsOn(v, architecture, s)
	}) {
		return nil
	}
	return field.ErrorList{field.Invalid(here, m.Name, fmt.Sprintf("no version of the image is supported and has the architecture %q of the machine type", architecture))}
}

// supported reports whether a version is in the stage supported at some time.
func supported(v gardencorev1beta1.ExpirableVersion) bool {
	if len(v.Lifecycle) > 0 {
		return slices.ContainsFunc(v.Lifecycle, func(l gardencorev1beta1.LifecycleStage) bool {
			return l.Classification == gardencorev1beta1.VersionClassificationSupported
		})
	}
	return v.Classification == nil || *v.Classification == gardencorev1beta1.VersionClassificationSupported
}

// runsOn reports whether an image has an architecture; it is true if the architecture is empty.
func runsOn(v gardencorev1beta1.MachineImageVersion, architecture string, s *gardencorev1beta1.CloudProfileSpec) bool {
	all := query.ArchitecturesOf(v.CapabilityFlavors, s.MachineCapabilities)
	if len(all) == 0 {
		all = v.Architectures
	}
	return architecture == "" || len(all) == 0 || slices.Contains(all, architecture)
}

func architectureOf(t *gardencorev1beta1.MachineType, s *gardencorev1beta1.CloudProfileSpec) string {
	if all := query.ArchitecturesOf([]gardencorev1beta1.MachineImageFlavor{{Capabilities: t.Capabilities}}, s.MachineCapabilities); len(all) == 1 {
		return all[0]
	}
	return deref(t.Architecture)
}
