// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateCloudProfile checks a new CloudProfile (API-VALCP-1, 2).
func ValidateCloudProfile(c *gardencorev1beta1.CloudProfile) field.ErrorList {
	errs := metadata(c, false, apivalidation.NameIsDNSSubdomain)
	return append(errs, cloudProfileSpec(&c.Spec, field.NewPath("spec"))...)
}

// ValidateCloudProfileUpdate checks an updated CloudProfile (API-VALCP-2).
func ValidateCloudProfileUpdate(c, old *gardencorev1beta1.CloudProfile) field.ErrorList {
	errs := metadataUpdate(c, old)
	errs = append(errs, immutable(c.Spec.Type, old.Spec.Type, field.NewPath("spec", "type"))...)
	errs = append(errs, limitsUpdate(c.Spec.Limits, old.Spec.Limits, field.NewPath("spec", "limits"))...)
	return append(errs, cloudProfileSpec(&c.Spec, field.NewPath("spec"))...)
}

func cloudProfileSpec(s *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	errs := required(s.Type, path.Child("type"), "the provider")
	errs = append(errs, kubernetesVersions(s.Kubernetes.Versions, path.Child("kubernetes", "versions"))...)
	errs = append(errs, machineImages(s.MachineImages, path.Child("machineImages"))...)
	errs = append(errs, machineTypes(s.MachineTypes, path.Child("machineTypes"))...)
	errs = append(errs, regions(s.Regions, path.Child("regions"))...)
	errs = append(errs, volumeTypes(s.VolumeTypes, path.Child("volumeTypes"))...)
	errs = append(errs, limits(s.Limits, path.Child("limits"))...)
	errs = append(errs, capabilities(s, path)...)
	errs = append(errs, caBundle(s.CABundle, path.Child("caBundle"))...)
	errs = append(errs, bastion(s, path.Child("bastion"))...)
	if s.SeedSelector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(&s.SeedSelector.LabelSelector,
			metav1validation.LabelSelectorValidationOptions{}, path.Child("seedSelector"))...)
	}
	return errs
}

// kubernetesVersions holds that at least one version is offered, that each is a semantic one and stands once, that the
// newest one never expires, and that no two of a minor version are the supported one.
func kubernetesVersions(all []gardencorev1beta1.ExpirableVersion, path *field.Path) field.ErrorList {
	if len(all) == 0 {
		return field.ErrorList{field.Required(path, "at least one Kubernetes version must be offered")}
	}
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	newest, expires := version.MustParseSemantic("0.0.0"), -1
	supported := map[string]string{}
	for i, v := range all {
		names = append(names, v.Version)
		errs = append(errs, stages(v, path.Index(i))...)
		parsed, ok := parsed(v.Version)
		if !ok {
			errs = append(errs, field.Invalid(path.Index(i).Child("version"), v.Version, "must be a semantic version such as 1.36.3"))
			continue
		}
		if newest.LessThan(parsed) {
			newest, expires = parsed, -1
			if v.ExpirationDate != nil {
				expires = i
			}
		}
		if deref(v.Classification) != gardencorev1beta1.VersionClassificationSupported {
			continue
		}
		minor := parsed.WithPatch(0).String()
		if other, taken := supported[minor]; taken {
			errs = append(errs, field.Forbidden(path.Index(i).Child("classification"), "only one version of a minor one can be supported, and "+other+" is"))
		}
		supported[minor] = v.Version
	}
	if expires >= 0 {
		errs = append(errs, field.Forbidden(path.Index(expires).Child("expirationDate"), "the newest version must not expire"))
	}
	return append(errs, duplicates(names, path.Index)...)
}

// stages checks the stages of life of a version: those of API-VALCP-2, in their order, each later than the one before.
func stages(v gardencorev1beta1.ExpirableVersion, path *field.Path) field.ErrorList {
	order := []gardencorev1beta1.VersionClassification{
		gardencorev1beta1.VersionClassificationUnavailable, gardencorev1beta1.VersionClassificationPreview,
		gardencorev1beta1.VersionClassificationSupported, gardencorev1beta1.VersionClassificationDeprecated,
		gardencorev1beta1.VersionClassificationExpired,
	}
	var errs field.ErrorList
	if v.Classification != nil {
		errs = append(errs, oneOf(*v.Classification, path.Child("classification"), order[1:4]...)...)
	}
	if len(v.Lifecycle) == 0 {
		return errs
	}
	if v.Classification != nil || v.ExpirationDate != nil {
		errs = append(errs, field.Forbidden(path.Child("lifecycle"), "has no place beside classification and expirationDate"))
	}
	rank := func(c gardencorev1beta1.VersionClassification) int {
		for i, one := range order {
			if one == c {
				return i
			}
		}
		return -1
	}
	for i, s := range v.Lifecycle {
		here := path.Child("lifecycle").Index(i)
		errs = append(errs, oneOf(s.Classification, here.Child("classification"), order...)...)
		if i == 0 {
			continue
		}
		before := v.Lifecycle[i-1]
		switch {
		case rank(s.Classification) <= rank(before.Classification):
			errs = append(errs, field.Invalid(here.Child("classification"), s.Classification, "must come after "+string(before.Classification)))
		case s.StartTime == nil:
			errs = append(errs, field.Required(here.Child("startTime"), "only the first stage can be without a start"))
		case before.StartTime != nil && !s.StartTime.After(before.StartTime.Time):
			errs = append(errs, field.Invalid(here.Child("startTime"), s.StartTime.String(), "must be later than the start of the stage before"))
		}
	}
	return errs
}

func volumeTypes(all []gardencorev1beta1.VolumeType, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, v := range all {
		errs = append(errs, required(v.Name, path.Index(i).Child("name"), "a volume type")...)
		errs = append(errs, required(v.Class, path.Index(i).Child("class"), "a class")...)
		errs = append(errs, quantities([]amountOf{{"minSize", v.MinSize}}, path.Index(i))...)
		names = append(names, v.Name)
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
		here := path.Index(i)
		names = append(names, r.Name)
		errs = append(errs, required(r.Name, here.Child("name"), "a region")...)
		errs = append(errs, metav1validation.ValidateLabels(r.Labels, here.Child("labels"))...)
		zones := make([]string, 0, len(r.Zones))
		for j, z := range r.Zones {
			errs = append(errs, required(z.Name, here.Child("zones").Index(j).Child("name"), "a zone")...)
			zones = append(zones, z.Name)
		}
		errs = append(errs, duplicates(zones, here.Child("zones").Index)...)
		restrictions := make([]string, 0, len(r.AccessRestrictions))
		for j, a := range r.AccessRestrictions {
			errs = append(errs, required(a.Name, here.Child("accessRestrictions").Index(j).Child("name"), "an access restriction")...)
			restrictions = append(restrictions, a.Name)
		}
		errs = append(errs, duplicates(restrictions, here.Child("accessRestrictions").Index)...)
	}
	return append(errs, duplicates(names, path.Index)...)
}

// limits holds API-VALCP-2.
func limits(l *gardencorev1beta1.Limits, path *field.Path) field.ErrorList {
	if l == nil {
		return nil
	}
	return atLeast(l.MaxNodesTotal, 1, path.Child("maxNodesTotal"))
}

// limitsUpdate keeps shoots within the limits that they were made under (API-VALCP-2).
func limitsUpdate(l, old *gardencorev1beta1.Limits, path *field.Path) field.ErrorList {
	if l == nil || old == nil || l.MaxNodesTotal == nil || old.MaxNodesTotal == nil || *l.MaxNodesTotal >= *old.MaxNodesTotal {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("maxNodesTotal"), *l.MaxNodesTotal, "can not be lowered: shoots may have more nodes")}
}
