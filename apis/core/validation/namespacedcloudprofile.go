// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateNamespacedCloudProfile checks a new NamespacedCloudProfile as far as that goes without its parent; the rest is
// for admission (API-NCPV-1).
func ValidateNamespacedCloudProfile(p *gardencorev1beta1.NamespacedCloudProfile) field.ErrorList {
	errs := metadata(p, true, apivalidation.NameIsDNSSubdomain)
	return append(errs, namespacedCloudProfileSpec(&p.Spec, field.NewPath("spec"))...)
}

// ValidateNamespacedCloudProfileUpdate checks an updated NamespacedCloudProfile.
func ValidateNamespacedCloudProfileUpdate(p, old *gardencorev1beta1.NamespacedCloudProfile) field.ErrorList {
	path := field.NewPath("spec")
	errs := metadataUpdate(p, old)
	errs = append(errs, immutable(p.Spec.Parent, old.Spec.Parent, path.Child("parent"))...)
	return append(errs, namespacedCloudProfileSpec(&p.Spec, path)...)
}

func namespacedCloudProfileSpec(s *gardencorev1beta1.NamespacedCloudProfileSpec, path *field.Path) field.ErrorList {
	errs := required(s.Parent.Name, path.Child("parent", "name"), "a CloudProfile")
	errs = append(errs, oneOf(s.Parent.Kind, path.Child("parent", "kind"), "CloudProfile")...)
	errs = append(errs, caBundle(s.CABundle, path.Child("caBundle"))...)
	if s.Kubernetes != nil {
		errs = append(errs, prolonged(s.Kubernetes.Versions, path.Child("kubernetes", "versions"))...)
	}
	errs = append(errs, addedImages(s.MachineImages, path.Child("machineImages"))...)
	if len(s.MachineTypes) > 0 {
		errs = append(errs, machineTypes(s.MachineTypes, path.Child("machineTypes"))...)
	}
	errs = append(errs, volumeTypes(s.VolumeTypes, path.Child("volumeTypes"))...)
	return append(errs, limits(s.Limits, path.Child("limits"))...)
}

// prolonged checks versions of the parent that get another expiration date, which is all that may be said of them.
func prolonged(all []gardencorev1beta1.ExpirableVersion, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, v := range all {
		here := path.Index(i)
		names = append(names, v.Version)
		errs = append(errs, stages(v, here)...)
		if _, ok := parsed(v.Version); !ok {
			errs = append(errs, field.Invalid(here.Child("version"), v.Version, "must be a semantic version such as 1.36.3"))
		}
		if v.Classification != nil {
			errs = append(errs, field.Forbidden(here.Child("classification"), "is for the parent to say"))
		}
		if v.ExpirationDate == nil && len(v.Lifecycle) == 0 {
			errs = append(errs, field.Required(here.Child("expirationDate"), "must say until when the project may use the version"))
		}
	}
	return append(errs, duplicates(names, path.Index)...)
}

func addedImages(all []gardencorev1beta1.MachineImage, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, image := range all {
		here := path.Index(i)
		names = append(names, image.Name)
		errs = append(errs, required(image.Name, here.Child("name"), "a machine image")...)
		if image.UpdateStrategy != nil {
			errs = append(errs, oneOf(*image.UpdateStrategy, here.Child("updateStrategy"),
				gardencorev1beta1.MachineImageUpdateStrategyPatch, gardencorev1beta1.MachineImageUpdateStrategyMinor,
				gardencorev1beta1.MachineImageUpdateStrategyMajor)...)
		}
		if len(image.Versions) == 0 && image.UpdateStrategy == nil {
			errs = append(errs, field.Required(here.Child("versions"), "must be given, or updateStrategy must"))
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
