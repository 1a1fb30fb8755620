// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateCloudProfile checks a new CloudProfile (API-VALCP-1).
func ValidateCloudProfile(c *gardencorev1beta1.CloudProfile) field.ErrorList {
	errs := metadata(c, false, apivalidation.NameIsDNSSubdomain)
	return append(errs, cloudProfileSpec(&c.Spec, field.NewPath("spec"))...)
}

// ValidateCloudProfileUpdate checks an updated CloudProfile.
func ValidateCloudProfileUpdate(c, old *gardencorev1beta1.CloudProfile) field.ErrorList {
	errs := metadataUpdate(c, old)
	errs = append(errs, immutable(c.Spec.Type, old.Spec.Type, field.NewPath("spec", "type"))...)
	return append(errs, cloudProfileSpec(&c.Spec, field.NewPath("spec"))...)
}

func cloudProfileSpec(s *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	errs := required(s.Type, path.Child("type"), "the provider")
	errs = append(errs, kubernetesVersions(s.Kubernetes.Versions, path.Child("kubernetes", "versions"))...)
	errs = append(errs, machineImages(s.MachineImages, path.Child("machineImages"))...)
	errs = append(errs, machineTypes(s.MachineTypes, path.Child("machineTypes"))...)
	errs = append(errs, regions(s.Regions, path.Child("regions"))...)
	volumes := make([]string, 0, len(s.VolumeTypes))
	for i, v := range s.VolumeTypes {
		errs = append(errs, required(v.Name, path.Child("volumeTypes").Index(i).Child("name"), "a volume type")...)
		errs = append(errs, required(v.Class, path.Child("volumeTypes").Index(i).Child("class"), "a class")...)
		volumes = append(volumes, v.Name)
	}
	return append(errs, duplicates(volumes, path.Child("volumeTypes").Index)...)
}

// kubernetesVersions holds that at least one version is offered, that each is a semantic one and stands once, and that
// the newest one never expires.
func kubernetesVersions(all []gardencorev1beta1.ExpirableVersion, path *field.Path) field.ErrorList {
	if len(all) == 0 {
		return field.ErrorList{field.Required(path, "at least one Kubernetes version must be offered")}
	}
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	newest, expires := version.MustParseSemantic("0.0.0"), -1
	for i, v := range all {
		names = append(names, v.Version)
		parsed, err := version.ParseSemantic(v.Version)
		if err != nil {
			errs = append(errs, field.Invalid(path.Index(i).Child("version"), v.Version, "must be a semantic version such as 1.36.3"))
			continue
		}
		if newest.LessThan(parsed) {
			newest, expires = parsed, -1
			if v.ExpirationDate != nil {
				expires = i
			}
		}
	}
	if expires >= 0 {
		errs = append(errs, field.Forbidden(path.Index(expires).Child("expirationDate"), "the newest version must not expire"))
	}
	return append(errs, duplicates(names, path.Index)...)
}

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
		if len(image.Versions) == 0 {
			errs = append(errs, field.Required(here.Child("versions"), "at least one version must be offered"))
		}
		versions := make([]string, 0, len(image.Versions))
		for j, v := range image.Versions {
			versions = append(versions, v.Version)
			if _, err := version.ParseSemantic(v.Version); err != nil {
				errs = append(errs, field.Invalid(here.Child("versions").Index(j).Child("version"), v.Version, "must be a semantic version"))
			}
		}
		errs = append(errs, duplicates(versions, here.Child("versions").Index)...)
	}
	return append(errs, duplicates(names, path.Index)...)
}

func machineTypes(all []gardencorev1beta1.MachineType, path *field.Path) field.ErrorList {
	if len(all) == 0 {
		return field.ErrorList{field.Required(path, "at least one machine type must be offered")}
	}
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, t := range all {
		names = append(names, t.Name)
		errs = append(errs, required(t.Name, path.Index(i).Child("name"), "a machine type")...)
		if t.CPU.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Index(i).Child("cpu"), t.CPU.String(), "must not be negative"))
		}
		if t.Memory.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Index(i).Child("memory"), t.Memory.String(), "must not be negative"))
		}
	}
	return append(errs, duplicates(names, path.Index)...)
}

func regions(all []gardencorev1beta1.Region, path *field.Path) field.ErrorList {
	if len(all) == 0 {
		return field.ErrorList{field.Required(path, "at least one region must be offered")}
	}
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, r := range all {
		names = append(names, r.Name)
		errs = append(errs, required(r.Name, path.Index(i).Child("name"), "a region")...)
		zones := make([]string, 0, len(r.Zones))
		for _, z := range r.Zones {
			zones = append(zones, z.Name)
		}
		errs = append(errs, duplicates(zones, func(j int) *field.Path { return path.Index(i).Child("zones").Index(j) })...)
	}
	return append(errs, duplicates(names, path.Index)...)
}
