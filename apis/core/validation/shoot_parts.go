// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"net/mail"
	"net/url"
	"slices"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	zonesForZone = 3
	zonesForNode = 1
)

// monitoring checks that receivers of alerts are e-mail addresses, each once (API-VALSHOOT-19).
func monitoring(m *gardencorev1beta1.Monitoring, path *field.Path) field.ErrorList {
	if m == nil || m.Alerting == nil {
		return nil
	}
	here := path.Child("alerting", "emailReceivers")
	errs := duplicates(m.Alerting.EmailReceivers, here.Index)
	for i, receiver := range m.Alerting.EmailReceivers {
		if a, err := mail.ParseAddress(receiver); err != nil || a.Address != receiver {
			errs = append(errs, field.Invalid(here.Index(i), receiver, "must be an e-mail address"))
		}
	}
	return errs
}

// references checks the lists of extensions, resources and access restrictions: all have names, and the names of extensions and
// of resources are unique.
func references(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	types := make([]string, 0, len(s.Extensions))
	for i, e := range s.Extensions {
		errs = append(errs, required(e.Type, path.Child("extensions").Index(i).Child("type"), "an extension")...)
		types = append(types, e.Type)
	}
	errs = append(errs, duplicates(types, func(i int) *field.Path { return path.Child("extensions").Index(i).Child("type") })...)
	errs = append(errs, namedResources(s.Resources, path.Child("resources"))...)
	for i, r := range s.AccessRestrictions {
		errs = append(errs, required(r.Name, path.Child("accessRestrictions").Index(i).Child("name"), "an access restriction")...)
	}
	if s.SeedSelector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(&s.SeedSelector.LabelSelector,
			metav1validation.LabelSelectorValidationOptions{}, path.Child("seedSelector"))...)
	}
	return errs
}

func namedResources(all []gardencorev1beta1.NamedResourceReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, r := range all {
		here := path.Index(i)
		errs = append(errs, required(r.Name, here.Child("name"), "the resource within the shoot")...)
		if r.Name != "" { // The name of the copy in the seed is this name with a prefix.
			errs = append(errs, subdomain(r.Name, here.Child("name"), "the resource within the shoot")...)
		}
		errs = append(errs, required(r.ResourceRef.Kind, here.Child("resourceRef", "kind"), "a kind")...)
		errs = append(errs, required(r.ResourceRef.Name, here.Child("resourceRef", "name"), "an object")...)
		errs = append(errs, apiVersion(r.ResourceRef.APIVersion, here.Child("resourceRef", "apiVersion"))...)
		names = append(names, r.Name)
	}
	return append(errs, duplicates(names, path.Index)...)
}

// apiVersion checks the text that names a version of the kinds of a group, such as v1 or apps/v1.
func apiVersion(value string, path *field.Path) field.ErrorList {
	if value == "" {
		return required(value, path, "the API version of the kind")
	}
	version, err := schema.ParseGroupVersion(value)
	if err != nil || len(validation.IsDNS1035Label(version.Version)) > 0 ||
		version.Group != "" && len(validation.IsDNS1123Subdomain(version.Group)) > 0 {
		return field.ErrorList{field.Invalid(path, value, "must be a version such as v1, or a group and a version such as apps/v1")}
	}
	return nil
}

// controlPlane checks the failure tolerance, which is node or zone, and the number of zones, which is 3 with tolerance zone and
// else 1 (API-VALSHOOT-20, 26).
func controlPlane(c *gardencorev1beta1.ControlPlane, path *field.Path) field.ErrorList {
	if c == nil {
		return nil
	}
	var errs field.ErrorList
	want := zonesForNode
	if c.HighAvailability != nil {
		errs = append(errs, oneOf(c.HighAvailability.FailureTolerance.Type, path.Child("highAvailability", "failureTolerance", "type"),
			gardencorev1beta1.FailureToleranceTypeNode, gardencorev1beta1.FailureToleranceTypeZone)...)
		if c.HighAvailability.FailureTolerance.Type == gardencorev1beta1.FailureToleranceTypeZone {
			want = zonesForZone
		}
	}
	if n := len(c.Zones); n > 0 && n != want {
		message := "exactly one zone can be chosen"
		if want == zonesForZone {
			message = `failure tolerance "zone" takes exactly three zones`
		}
		errs = append(errs, field.Invalid(path.Child("zones"), c.Zones, message))
	}
	return append(errs, duplicates(c.Zones, path.Child("zones").Index)...)
}

// controlPlaneUpdate checks that a failure tolerance is added only while the shoot is awake and does not change once the shoot
// has a seed, and that the zones only grow from one to three (API-VALSHOOT-20, 26).
func controlPlaneUpdate(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	path := field.NewPath("spec", "controlPlane")
	scheduled := old.Spec.SeedName != nil
	now, was := tolerance(&s.Spec), tolerance(&old.Spec)
	var errs field.ErrorList
	here := path.Child("highAvailability", "failureTolerance", "type")
	switch {
	case now == was:
	case was != "" && scheduled:
		errs = append(errs, field.Invalid(here, now, "cannot change on a shoot that has a seed; it is "+string(was)))
	case was == "" && sleeping(s):
		errs = append(errs, field.Forbidden(here, "cannot be added while the shoot is hibernated"))
	}
	zones, before := pinned(&s.Spec), pinned(&old.Spec)
	upgraded := was == "" && now == gardencorev1beta1.FailureToleranceTypeZone &&
		len(before) == zonesForNode && slices.Contains(zones, before[0])
	if scheduled && !upgraded && !apiequality.Semantic.DeepEqual(zones, before) {
		errs = append(errs, field.Forbidden(path.Child("zones"), "can only grow from one to three together with failure tolerance \"zone\""))
	}
	return errs
}

func tolerance(s *gardencorev1beta1.ShootSpec) gardencorev1beta1.FailureToleranceType {
	if s.ControlPlane == nil || s.ControlPlane.HighAvailability == nil {
		return ""
	}
	return s.ControlPlane.HighAvailability.FailureTolerance.Type
}

func pinned(s *gardencorev1beta1.ShootSpec) []string {
	if s.ControlPlane == nil {
		return nil
	}
	return s.ControlPlane.Zones
}

// advertisedAddresses checks that advertised addresses have unique names and plain https URLs (API-VALSHOOT-21).
func advertisedAddresses(all []gardencorev1beta1.ShootAdvertisedAddress, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i, a := range all {
		here := path.Index(i)
		names = append(names, a.Name)
		errs = append(errs, required(a.Name, here.Child("name"), "what the address is for")...)
		u, err := url.Parse(a.URL)
		switch {
		case err != nil || u.Scheme != "https" || u.Host == "":
			errs = append(errs, field.Invalid(here.Child("url"), a.URL, "must be a URL with https and a host"))
		case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
			errs = append(errs, field.Invalid(here.Child("url"), a.URL, "must have neither user, query nor fragment"))
		}
	}
	return append(errs, duplicates(names, path.Index)...)
}

// systemComponents checks the settings of the system components of a shoot.
func systemComponents(c *gardencorev1beta1.SystemComponents, path *field.Path) field.ErrorList {
	if c == nil || c.CoreDNS == nil {
		return nil
	}
	var errs field.ErrorList
	if a := c.CoreDNS.Autoscaling; a != nil {
		errs = append(errs, oneOf(a.Mode, path.Child("coreDNS", "autoscaling", "mode"),
			gardencorev1beta1.CoreDNSAutoscalingModeHorizontal, gardencorev1beta1.CoreDNSAutoscalingModeClusterProportional)...)
	}
	if r := c.CoreDNS.Rewriting; r != nil {
		errs = append(errs, commonSuffixes(r.CommonSuffixes, path.Child("coreDNS", "rewriting", "commonSuffixes"))...)
	}
	return errs
}

// commonSuffixes checks the suffixes of names that are resolved without search domains: domains of at least two parts, with
// or without a leading dot.
func commonSuffixes(all []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	domains := make([]string, 0, len(all))
	for i, suffix := range all {
		domain := strings.TrimPrefix(suffix, ".")
		domains = append(domains, domain)
		if !strings.Contains(domain, ".") {
			errs = append(errs, field.Invalid(path.Index(i), suffix, "must contain a dot, such as example.org"))
		}
		if len(validation.IsDNS1123Subdomain(strings.TrimSuffix(domain, "."))) > 0 {
			errs = append(errs, field.Invalid(path.Index(i), suffix, "must be a domain"))
		}
	}
	return append(errs, duplicates(domains, path.Index)...)
}
