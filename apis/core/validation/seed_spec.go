// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	minServicesBits = 8
	severalZones    = 2
)

// seedSpec checks the spec of a Seed or of a template. In a template, provider, region, networks and ingress are optional,
// because they are taken from the shoot that becomes the seed.
func seedSpec(s *gardencorev1beta1.SeedSpec, path *field.Path, template bool) field.ErrorList {
	provider := path.Child("provider")
	var errs field.ErrorList
	if !template {
		errs = append(errs, required(s.Provider.Type, provider.Child("type"), "the provider of the seed's machines")...)
		errs = append(errs, required(s.Provider.Region, provider.Child("region"), "the region of the seed")...)
	}
	errs = append(errs, duplicates(s.Provider.Zones, provider.Child("zones").Index)...)
	errs = append(errs, seedNetworks(&s.Networks, path.Child("networks"), template)...)
	errs = append(errs, seedTaints(s.Taints, path.Child("taints"))...)
	errs = append(errs, seedDNS(&s.DNS, path.Child("dns"))...)
	errs = append(errs, seedBackup(s, path.Child("backup"))...)
	errs = append(errs, seedIngress(s, path, template)...)
	errs = append(errs, seedVolume(s.Volume, path.Child("volume"))...)
	errs = append(errs, seedSettings(s, path.Child("settings"))...)
	errs = append(errs, namedResources(s.Resources, path.Child("resources"))...)
	errs = append(errs, seedResourceKinds(s.Resources, path.Child("resources"))...)
	errs = append(errs, seedExtensions(s.Extensions, path.Child("extensions"))...)
	names := make([]string, 0, len(s.AccessRestrictions))
	for _, a := range s.AccessRestrictions {
		names = append(names, a.Name)
	}
	return append(errs, duplicates(names, path.Child("accessRestrictions").Index)...)
}

// seedResourceKinds checks the kinds of the objects that a Seed refers to, which are copied to the seed. InternalSecrets are
// not allowed, because the garden keeps keys of clusters in them.
func seedResourceKinds(all []gardencorev1beta1.NamedResourceReference, path *field.Path) field.ErrorList {
	allowed := []string{"Secret", "ConfigMap", "WorkloadIdentity.security.gardener.cloud"}
	var errs field.ErrorList
	for i, r := range all {
		if r.ResourceRef.APIVersion == "" || r.ResourceRef.Kind == "" {
			continue // A missing kind is reported elsewhere.
		}
		kind := schema.FromAPIVersionAndKind(r.ResourceRef.APIVersion, r.ResourceRef.Kind).GroupKind().String()
		if !slices.Contains(allowed, kind) {
			errs = append(errs, field.NotSupported(path.Index(i).Child("resourceRef", "kind"), kind, allowed))
		}
	}
	return errs
}

// seedExtensions checks the extensions of a seed, which cannot be disabled.
func seedExtensions(all []gardencorev1beta1.Extension, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	types := make([]string, 0, len(all))
	for i, e := range all {
		here := path.Index(i).Child("type")
		if e.Type == "" {
			errs = append(errs, required(e.Type, here, "an extension")...)
		} else {
			errs = append(errs, label(e.Type, here)...)
		}
		if e.Disabled != nil {
			errs = append(errs, field.Forbidden(path.Index(i).Child("disabled"), "remove the extension instead"))
		}
		types = append(types, e.Type)
	}
	return append(errs, duplicates(types, func(i int) *field.Path { return path.Index(i).Child("type") })...)
}

// seedIngress checks the ingress of a seed, which needs a DNS provider for its domain.
func seedIngress(s *gardencorev1beta1.SeedSpec, path *field.Path, template bool) field.ErrorList {
	here := path.Child("ingress")
	switch {
	case s.Ingress == nil && template:
		return nil
	case s.Ingress == nil:
		return field.ErrorList{field.Required(here, "must give the domain of the seed's components and the ingress controller")}
	}
	errs := domain(s.Ingress.Domain, here.Child("domain"))
	errs = append(errs, oneOf(s.Ingress.Controller.Kind, here.Child("controller", "kind"), "nginx")...)
	if s.DNS.Provider == nil {
		errs = append(errs, field.Required(path.Child("dns", "provider"), "an ingress needs a DNS provider for its domain"))
	}
	return errs
}

func seedNetworks(n *gardencorev1beta1.SeedNetworks, path *field.Path, template bool) field.ErrorList {
	if errs := families(n.IPFamilies, path.Child("ipFamilies")); len(errs) > 0 {
		return errs // The ranges cannot be checked without valid families.
	}
	var all []network
	if !template || n.Pods != "" {
		all = append(all, network{"pods", &n.Pods})
	}
	if !template || n.Services != "" {
		all = append(all, network{"services", &n.Services})
	}
	all = append(all, network{"nodes", n.Nodes})
	if d := n.ShootDefaults; d != nil {
		all = append(all, network{"shootDefaults.pods", d.Pods}, network{"shootDefaults.services", d.Services})
	}
	errs := networks(all, path)
	errs = append(errs, inFamilies(all, n.IPFamilies, path)...)
	errs = append(errs, notReserved(all, path)...)
	if services, _ := rangeOf(&n.Services); services.Addr().Is4() && services.Bits() < minServicesBits {
		errs = append(errs, field.Invalid(path.Child("services"), n.Services, "must not be larger than /8"))
	}
	for i := range n.BlockCIDRs {
		if _, ok := rangeOf(&n.BlockCIDRs[i]); !ok {
			errs = append(errs, field.Invalid(path.Child("blockCIDRs").Index(i), n.BlockCIDRs[i], "must be a CIDR such as 169.254.169.254/32"))
		}
	}
	return errs
}

func seedTaints(all []gardencorev1beta1.SeedTaint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	pairs := make([]string, 0, len(all))
	for i, t := range all {
		errs = append(errs, required(t.Key, path.Index(i).Child("key"), "the taint")...)
		pair := t.Key
		if t.Value != nil {
			pair += "=" + *t.Value
		}
		pairs = append(pairs, pair)
	}
	return append(errs, duplicates(pairs, path.Index)...)
}

func seedDNS(d *gardencorev1beta1.SeedDNS, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if d.Internal == nil {
		errs = append(errs, field.Required(path.Child("internal"), "must name the domain of the API servers of shoots that machines use"))
	} else {
		errs = append(errs, dnsProvider(d.Internal, path.Child("internal"))...)
	}
	domains := make([]string, 0, len(d.Defaults))
	for i := range d.Defaults {
		errs = append(errs, dnsProvider(&d.Defaults[i], path.Child("defaults").Index(i))...)
		domains = append(domains, d.Defaults[i].Domain)
	}
	errs = append(errs, duplicates(domains, path.Child("defaults").Index)...)
	if p := d.Provider; p != nil {
		here := path.Child("provider")
		errs = append(errs, required(p.Type, here.Child("type"), "a DNS provider")...)
		errs = append(errs, eitherCredentials(p.CredentialsRef, p.SecretRef, here)...)
	}
	return errs
}

func dnsProvider(d *gardencorev1beta1.SeedDNSProviderConfig, path *field.Path) field.ErrorList {
	errs := required(d.Type, path.Child("type"), "a DNS provider")
	errs = append(errs, domain(d.Domain, path.Child("domain"))...)
	return append(errs, ValidateCredentialsRef(&d.CredentialsRef, path.Child("credentialsRef"))...)
}

func domain(value string, path *field.Path) field.ErrorList {
	errs := required(value, path, "a domain")
	if value == "" {
		return errs
	}
	for _, message := range apivalidation.NameIsDNSSubdomain(value, false) {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// seedBackup checks the backup section: provider, credentials and, if the provider is not the seed's, the region are given
// (API-VALSEED-1).
func seedBackup(s *gardencorev1beta1.SeedSpec, path *field.Path) field.ErrorList {
	b := s.Backup
	if b == nil {
		return nil
	}
	errs := required(b.Provider, path.Child("provider"), "where backups are kept")
	if b.Provider != s.Provider.Type && deref(b.Region) == "" {
		errs = append(errs, field.Invalid(path.Child("region"), "", "must be given if the provider of backups is not that of the seed"))
	}
	return append(errs, eitherCredentials(b.CredentialsRef, b.SecretRef, path)...)
}

// eitherCredentials checks that there is a complete reference to credentials, in the current field or in the older one.
func eitherCredentials(ref *corev1.ObjectReference, former *corev1.SecretReference, path *field.Path) field.ErrorList {
	here := path.Child("credentialsRef")
	switch {
	case ref != nil:
		return ValidateCredentialsRef(ref, here)
	case former != nil:
		here = path.Child("secretRef")
		errs := required(former.Name, here.Child("name"), "the Secret with the credentials")
		return append(errs, required(former.Namespace, here.Child("namespace"), "the namespace of the Secret")...)
	default:
		return field.ErrorList{field.Required(here, "must name the credentials")}
	}
}

func seedVolume(v *gardencorev1beta1.SeedVolume, path *field.Path) field.ErrorList {
	if v == nil {
		return nil
	}
	errs := quantities([]amountOf{{"minimumSize", v.MinimumSize}}, path)
	purposes := make([]string, 0, len(v.Providers))
	for i, p := range v.Providers {
		here := path.Child("providers").Index(i)
		errs = append(errs, required(p.Name, here.Child("name"), "a volume provider")...)
		errs = append(errs, required(p.Purpose, here.Child("purpose"), "what its volumes are for")...)
		purposes = append(purposes, p.Purpose)
	}
	return append(errs, duplicates(purposes, func(i int) *field.Path { return path.Child("providers").Index(i).Child("purpose") })...)
}
