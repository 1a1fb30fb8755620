// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateNamespacedCloudProfile checks a new NamespacedCloudProfile as far as possible without its parent; an admission
// plugin checks the rest (API-NCPV-1).
func ValidateNamespacedCloudProfile(p *gardencorev1beta1.NamespacedCloudProfile) field.ErrorList {
	errs := metadata(p, true, apivalidation.NameIsDNSSubdomain)
	return append(errs, namespacedCloudProfileSpec(&p.Spec, field.NewPath("spec"))...)
}

// ValidateNamespacedCloudProfileUpdate checks an updated NamespacedCloudProfile.
func ValidateNamespacedCloudProfileUpdate(p, old *gardencorev1beta1.NamespacedCloudProfile) field.ErrorList {
	path := field.NewPath("spec")
	errs := metadataUpdate(p, old)
	errs = append(errs, frozen(p, p.Spec, old.Spec)...)
	errs = append(errs, immutable(p.Spec.Parent, old.Spec.Parent, path.Child("parent"))...)
	return append(errs, namespacedCloudProfileSpec(&p.Spec, path)...)
}

func namespacedCloudProfileSpec(s *gardencorev1beta1.NamespacedCloudProfileSpec, path *field.Path) field.ErrorList {
	errs := required(s.Parent.Name, path.Child("parent", "name"), "a CloudProfile")
	errs = append(errs, oneOf(s.Parent.Kind, path.Child("parent", "kind"), "CloudProfile")...)
	errs = append(errs, CABundle(s.CABundle, path.Child("caBundle"))...)
	if s.Kubernetes != nil {
		errs = append(errs, prolonged(s.Kubernetes.Versions, path.Child("kubernetes", "versions"))...)
	}
	errs = append(errs, machineImages(s.MachineImages, path.Child("machineImages"))...)
	errs = append(errs, machineTypes(s.MachineTypes, path.Child("machineTypes"))...)
	errs = append(errs, volumeTypes(s.VolumeTypes, path.Child("volumeTypes"))...)
	return append(errs, limits(s.Limits, path.Child("limits"))...)
}

// prolonged checks versions of the parent that get another expiration date, which is the only field that can be set.
func prolonged(all []gardencorev1beta1.ExpirableVersion, path *field.Path) field.ErrorList {
	errs := versionList(all, path)
	for i, v := range all {
		if v.Classification != nil {
			errs = append(errs, field.Forbidden(path.Index(i).Child("classification"), "only the parent can classify the version"))
		}
	}
	return errs
}
