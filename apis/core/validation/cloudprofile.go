// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateCloudProfile checks a new CloudProfile (API-VALCP-1, 2).
func ValidateCloudProfile(c *gardencorev1beta1.CloudProfile) field.ErrorList {
	errs := metadata(c, false, apivalidation.NameIsDNSSubdomain)
	return append(errs, cloudProfileSpec(&c.Spec, nil, field.NewPath("spec"))...)
}

// ValidateCloudProfileUpdate checks an updated CloudProfile (API-VALCP-2). Versions of Kubernetes that stay as they are remain valid: the garden
// writes stored profiles too.
func ValidateCloudProfileUpdate(c, old *gardencorev1beta1.CloudProfile) field.ErrorList {
	errs := metadataUpdate(c, old)
	errs = append(errs, frozen(c, c.Spec, old.Spec)...)
	errs = append(errs, immutable(c.Spec.Type, old.Spec.Type, field.NewPath("spec", "type"))...)
	errs = append(errs, limitsUpdate(c.Spec.Limits, old.Spec.Limits, field.NewPath("spec", "limits"))...)
	return append(errs, cloudProfileSpec(&c.Spec, &old.Spec, field.NewPath("spec"))...)
}

// cloudProfileSpec checks the spec of a profile; stored is the old one, nil for a new profile.
func cloudProfileSpec(s, stored *gardencorev1beta1.CloudProfileSpec, path *field.Path) field.ErrorList {
	errs := required(s.Type, path.Child("type"), "the provider")
	if stored == nil || !apiequality.Semantic.DeepEqual(stored.Kubernetes.Versions, s.Kubernetes.Versions) {
		errs = append(errs, kubernetesVersions(s.Kubernetes.Versions, path.Child("kubernetes", "versions"))...)
	}
	errs = append(errs, capabilityDefinitions(s.MachineCapabilities, path.Child("machineCapabilities"))...)
	errs = append(errs, offeredImages(s, path.Child("machineImages"))...)
	errs = append(errs, offeredTypes(s, path.Child("machineTypes"))...)
	errs = append(errs, regions(s.Regions, path.Child("regions"))...)
	errs = append(errs, volumeTypes(s.VolumeTypes, path.Child("volumeTypes"))...)
	errs = append(errs, limits(s.Limits, path.Child("limits"))...)
	errs = append(errs, CABundle(s.CABundle, path.Child("caBundle"))...)
	errs = append(errs, bastion(s, path.Child("bastion"))...)
	if s.SeedSelector != nil {
		errs = append(errs, selectorOfSeeds(&s.SeedSelector.LabelSelector, path.Child("seedSelector"))...)
	}
	return errs
}

// selectorOfSeeds checks a selector of seeds. Values that no label can have are refused, because a selector with them
// cannot be evaluated.
func selectorOfSeeds(s *metav1.LabelSelector, path *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, path)
}

// kubernetesVersions checks the versions that a profile of the garden offers: at least one, the newest of which never
// expires (API-VALCP-1).
func kubernetesVersions(all []gardencorev1beta1.ExpirableVersion, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(all) == 0 {
		errs = append(errs, field.Required(path, "at least one Kubernetes version must be offered"))
	}
	newest, ok := newestOf(all)
	switch {
	case !ok:
		errs = append(errs, field.Invalid(path, "", "the newest version cannot be determined: each version must have three numbers, such as 1.36.3"))
	case newest.ExpirationDate != nil:
		errs = append(errs, field.Invalid(field.NewPath(path.String()+"[]").Child("expirationDate"), newest.ExpirationDate.UTC().Format(time.RFC3339),
			"must not be set for "+newest.Version+", the newest version"))
	case expires(newest):
		errs = append(errs, field.Invalid(field.NewPath(path.String()+"[]").Child("lifecycle"), gardencorev1beta1.VersionClassificationExpired,
			"must not be a stage of "+newest.Version+", the newest version"))
	}
	errs = append(errs, versionList(all, path)...)
	return append(errs, oneSupported(all, path)...)
}

// versionList checks versions of Kubernetes one by one: three numbers, each version once.
func versionList(all []gardencorev1beta1.ExpirableVersion, path *field.Path) field.ErrorList {
	threeNumbers := regexp.MustCompile(`^([0-9]+\.){2}[0-9]+$`)
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, v := range all {
		here := path.Index(i)
		switch {
		case !threeNumbers.MatchString(v.Version):
			errs = append(errs, field.Invalid(here, v.Version, "must be a version of three numbers, such as 1.36.3"))
		case seen[v.Version]:
			errs = append(errs, field.Duplicate(here.Child("version"), v.Version))
		}
		seen[v.Version] = true
		errs = append(errs, stages(v, here)...)
	}
	return errs
}

// newestOf returns the highest version and whether it could be determined.
func newestOf(all []gardencorev1beta1.ExpirableVersion) (gardencorev1beta1.ExpirableVersion, bool) {
	var newest gardencorev1beta1.ExpirableVersion
	for _, v := range all {
		if _, ok := query.Version(v.Version); !ok {
			return newest, false
		}
		if newest.Version == "" || query.Higher(v.Version, newest.Version) {
			newest = v
		}
	}
	return newest, len(all) > 0
}

// expires reports whether a version has a lifecycle that ends.
func expires(v gardencorev1beta1.ExpirableVersion) bool {
	return slices.ContainsFunc(v.Lifecycle, func(s gardencorev1beta1.LifecycleStage) bool {
		return s.Classification == gardencorev1beta1.VersionClassificationExpired
	})
}

// staysSupported reports whether a version is supported for good: it is classified so, or no other stage of its lifecycle follows.
func staysSupported(v gardencorev1beta1.ExpirableVersion) bool {
	last := deref(v.Classification)
	if n := len(v.Lifecycle); n > 0 {
		last = v.Lifecycle[n-1].Classification
	}
	return last == gardencorev1beta1.VersionClassificationSupported
}

// oneSupported checks that no two versions with the same first two numbers are supported. The stages of lifecycles may overlap for a
// while, until the one version follows the other.
func oneSupported(all []gardencorev1beta1.ExpirableVersion, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	minors := map[string]int{}
	minor := func(v gardencorev1beta1.ExpirableVersion) string {
		parsed, ok := query.Version(v.Version)
		if !ok || !staysSupported(v) {
			return ""
		}
		return fmt.Sprintf("%d.%d", parsed.Major(), parsed.Minor())
	}
	for _, v := range all {
		minors[minor(v)]++
	}
	for i, v := range all {
		if m := minor(v); m != "" && minors[m] > 1 {
			errs = append(errs, field.Forbidden(path.Index(i), "only one version of "+m+" can be supported for good"))
		}
	}
	return errs
}

// stages checks the lifecycle of a version: its stages are in the order unavailable, preview, supported, deprecated, expired,
// and each starts later than the one before (API-VALCP-2).
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
		errs = append(errs, field.Forbidden(path.Child("lifecycle"), "cannot be set together with classification or expirationDate"))
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
		here := path.Index(i)
		errs = append(errs, qualified(v.Name, here.Child("name"), "a volume type")...)
		errs = append(errs, qualified(v.Class, here.Child("class"), "a class")...)
		errs = append(errs, quantities([]amountOf{{"minSize", v.MinSize}}, here)...)
		names = append(names, v.Name)
	}
	return append(errs, duplicates(names, namesIn(path))...)
}

// qualified checks a name that is used as a label value: it is required and has no prefix.
func qualified(name string, path *field.Path, what string) field.ErrorList {
	if name == "" {
		return required(name, path, what)
	}
	messages := validation.IsQualifiedName(name)
	if len(messages) == 0 && strings.Contains(name, "/") {
		messages = []string{"must not have a prefix"}
	}
	if len(messages) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, strings.Join(messages, ", "))}
}

// namesIn returns the paths of the names of the items of a list.
func namesIn(path *field.Path) func(i int) *field.Path {
	return func(i int) *field.Path { return path.Index(i).Child("name") }
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
		errs = append(errs, labels(r.Labels, here.Child("labels"))...)
		zones := make([]string, 0, len(r.Zones))
		for j, z := range r.Zones {
			errs = append(errs, required(z.Name, here.Child("zones").Index(j).Child("name"), "a zone")...)
			zones = append(zones, z.Name)
		}
		errs = append(errs, duplicates(zones, namesIn(here.Child("zones")))...)
		restrictions := make([]string, 0, len(r.AccessRestrictions))
		for j, a := range r.AccessRestrictions {
			errs = append(errs, required(a.Name, here.Child("accessRestrictions").Index(j).Child("name"), "an access restriction")...)
			restrictions = append(restrictions, a.Name)
		}
		errs = append(errs, duplicates(restrictions, here.Child("accessRestrictions").Index)...)
	}
	return append(errs, duplicates(names, namesIn(path))...)
}

// limits checks that the maximum number of nodes of a shoot is positive (API-VALCP-2).
func limits(l *gardencorev1beta1.Limits, path *field.Path) field.ErrorList {
	if l == nil {
		return nil
	}
	return atLeast(l.MaxNodesTotal, 1, path.Child("maxNodesTotal"))
}

// limitsUpdate checks that limits are not lowered, because shoots may already exceed lower ones (API-VALCP-2).
func limitsUpdate(l, old *gardencorev1beta1.Limits, path *field.Path) field.ErrorList {
	if l == nil || old == nil || l.MaxNodesTotal == nil || old.MaxNodesTotal == nil || *l.MaxNodesTotal >= *old.MaxNodesTotal {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("maxNodesTotal"), *l.MaxNodesTotal, "cannot be lowered: shoots may have more nodes")}
}
