// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

type garden = gardenoperatorv1alpha1.Garden

// ValidateGarden checks a new Garden (OPER-WH-5 to 10, 13 to 16).
func ValidateGarden(g *garden) field.ErrorList {
	errs := check.Metadata(g, false, apivalidation.NameIsDNSSubdomain)
	errs = append(errs, finalizers(g)...)
	errs = append(errs, operations(g, nil)...)
	return append(errs, spec(&g.Spec, field.NewPath("spec"))...)
}

// ValidateGardenUpdate checks an updated Garden (OPER-WH-4 to 7, 9 to 16).
func ValidateGardenUpdate(g, old *garden) field.ErrorList {
	errs := check.MetadataUpdate(g, old)
	errs = append(errs, operations(g, old)...)
	errs = append(errs, specUpdate(g, old, field.NewPath("spec"))...)
	return append(errs, spec(&g.Spec, field.NewPath("spec"))...)
}

// finalizers rejects the finalizers of a Garden's controllers in a new Garden, which they have not reconciled yet (OPER-WH-8).
func finalizers(g *garden) field.ErrorList {
	var errs field.ErrorList
	for i, name := range g.Finalizers {
		if name == gardenoperatorv1alpha1.FinalizerOperator || name == gardencorev1beta1.FinalizerReferenceProtection {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "finalizers").Index(i), name+" cannot be set on a new Garden"))
		}
	}
	return errs
}

func spec(s *gardenoperatorv1alpha1.GardenSpec, path *field.Path) field.ErrorList {
	errs := dns(s, path)
	errs = append(errs, runtimeCluster(&s.RuntimeCluster, path.Child("runtimeCluster"))...)
	errs = append(errs, virtualCluster(&s.VirtualCluster, path.Child("virtualCluster"))...)
	errs = append(errs, networks(s, path)...)
	errs = append(errs, topology(s, path)...)
	types := make([]string, 0, len(s.Extensions))
	for i, e := range s.Extensions {
		errs = append(errs, check.Required(e.Type, path.Child("extensions").Index(i).Child("type"), "the type of the extension")...)
		types = append(types, e.Type)
	}
	return append(errs, unique(types, path.Child("extensions"), "type")...)
}

// unique rejects an entry of a list whose field is the same as that of an earlier entry.
func unique(values []string, path *field.Path, child string) field.ErrorList {
	var errs field.ErrorList
	for i, v := range values {
		if slices.Index(values, v) < i {
			errs = append(errs, field.Duplicate(path.Index(i).Child(child), v))
		}
	}
	return errs
}

// dns checks the DNS services and the domains of the garden (OPER-API-8, OPER-WH-10).
func dns(s *gardenoperatorv1alpha1.GardenSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	providers := domains{managed: s.DNS != nil}
	if s.DNS != nil {
		here := path.Child("dns", "providers")
		if len(s.DNS.Providers) == 0 {
			errs = append(errs, field.Required(here, "must name at least one DNS service"))
		}
		for i, p := range s.DNS.Providers {
			errs = append(errs, check.Required(p.Name, here.Index(i).Child("name"), "the DNS service")...)
			errs = append(errs, check.Required(p.Type, here.Index(i).Child("type"), "the type of the DNS service")...)
			errs = append(errs, check.Required(p.SecretRef.Name, here.Index(i).Child("secretRef", "name"), "the Secret with its credentials")...)
			providers.known = append(providers.known, p.Name)
		}
		errs = append(errs, unique(providers.known, here, "name")...)
	}
	errs = append(errs, providers.check(s.RuntimeCluster.Ingress.Domains, path.Child("runtimeCluster", "ingress", "domains"))...)
	errs = append(errs, providers.check(s.VirtualCluster.DNS.Domains, path.Child("virtualCluster", "dns", "domains"))...)
	virtual := path.Child("virtualCluster", "gardener")
	if d := s.VirtualCluster.Gardener.Dashboard; d != nil && d.Domain != nil {
		errs = append(errs, providers.one(d.Domain, virtual.Child("gardenerDashboard", "domain"))...)
	}
	if d := s.VirtualCluster.Gardener.DiscoveryServer; d != nil && d.Domain != nil {
		errs = append(errs, providers.one(d.Domain, virtual.Child("gardenerDiscoveryServer", "domain"))...)
	}
	return errs
}

// domains checks domains against the DNS services that may host them.
type domains struct {
	managed bool
	known   []string
}

func (d domains) check(all []gardenoperatorv1alpha1.DNSDomain, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	names := make([]string, 0, len(all))
	for i := range all {
		errs = append(errs, d.one(&all[i], path.Index(i))...)
		names = append(names, all[i].Name)
	}
	return append(errs, unique(names, path, "name")...)
}

func (d domains) one(domain *gardenoperatorv1alpha1.DNSDomain, path *field.Path) field.ErrorList {
	errs := check.Required(domain.Name, path.Child("name"), "the domain")
	if domain.Name != "" {
		for _, message := range validation.IsDNS1123Subdomain(domain.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), domain.Name, message))
		}
	}
	switch {
	case domain.Provider == nil && d.managed:
		errs = append(errs, field.Required(path.Child("provider"), "must name the service in spec.dns.providers that hosts the domain"))
	case domain.Provider == nil:
	case !slices.Contains(d.known, *domain.Provider):
		errs = append(errs, field.NotSupported(path.Child("provider"), *domain.Provider, d.known))
	}
	return errs
}

// topology checks that topology-aware routing is enabled only with several zones and a highly available control plane
// (OPER-WH-15).
func topology(s *gardenoperatorv1alpha1.GardenSpec, path *field.Path) field.ErrorList {
	set := s.RuntimeCluster.Settings
	if set == nil || set.TopologyAwareRouting == nil || !set.TopologyAwareRouting.Enabled {
		return nil
	}
	var errs field.ErrorList
	here := path.Child("runtimeCluster", "settings", "topologyAwareRouting", "enabled")
	if len(s.RuntimeCluster.Provider.Zones) < 2 {
		errs = append(errs, field.Forbidden(here, "requires at least two zones in spec.runtimeCluster.provider.zones"))
	}
	if !highlyAvailable(s) {
		errs = append(errs, field.Forbidden(here, "requires spec.virtualCluster.controlPlane.highAvailability"))
	}
	return errs
}

func highlyAvailable(s *gardenoperatorv1alpha1.GardenSpec) bool {
	c := s.VirtualCluster.ControlPlane
	return c != nil && c.HighAvailability != nil
}
