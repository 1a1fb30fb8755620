// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
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

func seedSpec(s *gardencorev1beta1.SeedSpec, path *field.Path) field.ErrorList {
	provider := path.Child("provider")
	errs := required(s.Provider.Type, provider.Child("type"), "the provider of the seed's machines")
	errs = append(errs, required(s.Provider.Region, provider.Child("region"), "the region of the seed")...)
	errs = append(errs, duplicates(s.Provider.Zones, provider.Child("zones").Index)...)
	errs = append(errs, seedNetworks(&s.Networks, path.Child("networks"))...)
	errs = append(errs, seedTaints(s.Taints, path.Child("taints"))...)
	errs = append(errs, seedDNS(&s.DNS, path.Child("dns"))...)
	errs = append(errs, seedBackup(s, path.Child("backup"))...)
	if s.Ingress != nil {
		here := path.Child("ingress")
		errs = append(errs, domain(s.Ingress.Domain, here.Child("domain"))...)
		errs = append(errs, oneOf(s.Ingress.Controller.Kind, here.Child("controller", "kind"), "nginx")...)
		if s.DNS.Provider == nil {
			errs = append(errs, field.Required(path.Child("dns", "provider"), "an ingress needs someone to make its domain known"))
		}
	}
	errs = append(errs, seedVolume(s.Volume, path.Child("volume"))...)
	errs = append(errs, seedSettings(s, path.Child("settings"))...)
	errs = append(errs, namedResources(s.Resources, path.Child("resources"))...)
	errs = append(errs, seedResourceKinds(s.Resources, path.Child("resources"))...)
	types := make([]string, 0, len(s.Extensions))
	for i, e := range s.Extensions {
		errs = append(errs, required(e.Type, path.Child("extensions").Index(i).Child("type"), "an extension")...)
		types = append(types, e.Type)
	}
	errs = append(errs, duplicates(types, path.Child("extensions").Index)...)
	names := make([]string, 0, len(s.AccessRestrictions))
	for _, a := range s.AccessRestrictions {
		names = append(names, a.Name)
	}
	return append(errs, duplicates(names, path.Child("accessRestrictions").Index)...)
}

// seedResourceKinds allows the kinds that a seed gets when its Seed names them. The garden keeps keys of clusters in
// InternalSecrets, which are nothing for seeds.
func seedResourceKinds(all []gardencorev1beta1.NamedResourceReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, r := range all {
		ref := corev1.ObjectReference{APIVersion: r.ResourceRef.APIVersion, Kind: r.ResourceRef.Kind}
		if ref.APIVersion == "" || ref.Kind == "" {
			continue // Missing is an error of its own.
		}
		errs = append(errs, kindOf(&ref, path.Index(i).Child("resourceRef"), schema.GroupKind{Kind: "Secret"},
			schema.GroupKind{Kind: "ConfigMap"}, schema.GroupKind{Group: "security.gardener.cloud", Kind: "WorkloadIdentity"})...)
	}
	return errs
}

func seedNetworks(n *gardencorev1beta1.SeedNetworks, path *field.Path) field.ErrorList {
	all := []network{{"nodes", n.Nodes}, {"pods", &n.Pods}, {"services", &n.Services}}
	errs := families(n.IPFamilies, path.Child("ipFamilies"))
	errs = append(errs, networks(all, path)...)
	errs = append(errs, inFamilies(all, n.IPFamilies, path)...)
	if services, ok := rangeOf(&n.Services); ok && services.Bits() < minServicesBits {
		errs = append(errs, field.Invalid(path.Child("services"), n.Services, "must not be larger than /8"))
	}
	if d := n.ShootDefaults; d != nil {
		errs = append(errs, networks([]network{{"pods", d.Pods}, {"services", d.Services}}, path.Child("shootDefaults"))...)
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
		pairs = append(pairs, t.Key+"="+deref(t.Value))
	}
	return append(errs, duplicates(pairs, path.Index)...)
}

func seedDNS(d *gardencorev1beta1.SeedDNS, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if d.Internal != nil {
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
	here := path.Child("credentialsRef")
	if kind := d.CredentialsRef.Kind; kind != "" {
		errs = append(errs, oneOf(kind, here.Child("kind"), "Secret", "WorkloadIdentity")...)
	}
	return append(errs, required(d.CredentialsRef.Name, here.Child("name"), "the Secret with the credentials")...)
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

// seedBackup holds API-VALSEED-1.
func seedBackup(s *gardencorev1beta1.SeedSpec, path *field.Path) field.ErrorList {
	b := s.Backup
	if b == nil {
		return nil
	}
	errs := required(b.Provider, path.Child("provider"), "where backups are kept")
	if b.Provider != s.Provider.Type && deref(b.Region) == "" {
		errs = append(errs, field.Required(path.Child("region"), "must be given when backups are kept elsewhere than the seed's machines"))
	}
	return append(errs, eitherCredentials(b.CredentialsRef, b.SecretRef, path)...)
}

// eitherCredentials wants a complete reference to credentials, in the present form or in the former one.
func eitherCredentials(ref *corev1.ObjectReference, former *corev1.SecretReference, path *field.Path) field.ErrorList {
	here := path.Child("credentialsRef")
	switch {
	case ref != nil:
		errs := oneOf(ref.Kind, here.Child("kind"), "Secret", "WorkloadIdentity")
		errs = append(errs, required(ref.Name, here.Child("name"), "the credentials")...)
		return append(errs, required(ref.Namespace, here.Child("namespace"), "the namespace of the credentials")...)
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
	return append(errs, duplicates(purposes, path.Child("providers").Index)...)
}

// seedSettings holds what API-VALSEED-3 says of zones.
func seedSettings(s *gardencorev1beta1.SeedSpec, path *field.Path) field.ErrorList {
	set := s.Settings
	if set == nil {
		return nil
	}
	var errs field.ErrorList
	single := len(s.Provider.Zones) < severalZones
	if l := set.LoadBalancerServices; l != nil {
		here := path.Child("loadBalancerServices", "zones")
		if len(l.Zones) > 0 && single {
			errs = append(errs, field.Forbidden(here, "a seed with settings for zones has at least two zones"))
		}
		names := make([]string, 0, len(l.Zones))
		for i, z := range l.Zones {
			if !slices.Contains(s.Provider.Zones, z.Name) {
				errs = append(errs, field.Invalid(here.Index(i).Child("name"), z.Name, "is no zone of the seed"))
			}
			names = append(names, z.Name)
		}
		errs = append(errs, duplicates(names, here.Index)...)
	}
	if t := set.TopologyAwareRouting; t != nil && t.Enabled && single {
		errs = append(errs, field.Forbidden(path.Child("topologyAwareRouting", "enabled"), "needs a seed with at least two zones"))
	}
	if z := set.ZoneSelection; z != nil {
		errs = append(errs, oneOf(z.Mode, path.Child("zoneSelection", "mode"),
			gardencorev1beta1.ZoneSelectionModePrefer, gardencorev1beta1.ZoneSelectionModeEnforce)...)
	}
	if r := set.ExcessCapacityReservation; r != nil {
		for i, c := range r.Configs {
			here := path.Child("excessCapacityReservation", "configs").Index(i).Child("resources")
			if len(c.Resources) == 0 {
				errs = append(errs, field.Required(here, "must say how much is held back"))
			}
			for _, name := range slices.Sorted(maps.Keys(c.Resources)) {
				errs = append(errs, quantities([]amountOf{{name, new(c.Resources[name])}}, here)...)
			}
		}
	}
	return errs
}
