// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateSeed checks a new Seed (API-VALSEED-1, API-NAME-4).
func ValidateSeed(s *gardencorev1beta1.Seed) field.ErrorList {
	errs := metadata(s, false, apivalidation.NameIsDNSLabel)
	errs = append(errs, seedOperation(s, nil)...)
	return append(errs, seedSpec(&s.Spec, field.NewPath("spec"))...)
}

// ValidateSeedUpdate checks an updated Seed (API-VALSEED-2).
func ValidateSeedUpdate(s, old *gardencorev1beta1.Seed) field.ErrorList {
	path := field.NewPath("spec", "networks")
	errs := metadataUpdate(s, old)
	errs = append(errs, seedOperation(s, old)...)
	errs = append(errs, immutable(s.Spec.Networks.Pods, old.Spec.Networks.Pods, path.Child("pods"))...)
	errs = append(errs, immutable(s.Spec.Networks.Services, old.Spec.Networks.Services, path.Child("services"))...)
	errs = append(errs, immutableOnceSet(s.Spec.Networks.Nodes, old.Spec.Networks.Nodes, path.Child("nodes"))...)
	backup := field.NewPath("spec", "backup")
	switch {
	case old.Spec.Backup == nil:
	case s.Spec.Backup == nil:
		errs = append(errs, field.Forbidden(backup, "can not be taken away: the backups would be lost"))
	default:
		errs = append(errs, immutable(s.Spec.Backup.Provider, old.Spec.Backup.Provider, backup.Child("provider"))...)
		errs = append(errs, immutable(s.Spec.Backup.Region, old.Spec.Backup.Region, backup.Child("region"))...)
	}
	return append(errs, seedSpec(&s.Spec, field.NewPath("spec"))...)
}

// ValidateSeedStatusUpdate checks a new status of a Seed (API-VALSEED-2).
func ValidateSeedStatusUpdate(s, old *gardencorev1beta1.Seed) field.ErrorList {
	return immutableOnceSet(s.Status.ClusterIdentity, old.Status.ClusterIdentity, field.NewPath("status", "clusterIdentity"))
}

// seedOperation accepts only known operations, and none in place of another (API-STRAT-6).
func seedOperation(s, old *gardencorev1beta1.Seed) field.ErrorList {
	value, ok := s.Annotations[gardencorev1beta1.AnnotationOperation]
	if !ok {
		return nil
	}
	path := field.NewPath("metadata", "annotations").Key(gardencorev1beta1.AnnotationOperation)
	errs := oneOf(value, path, gardencorev1beta1.OperationReconcile, gardencorev1beta1.OperationRenewGardenAccessSecrets,
		gardencorev1beta1.OperationRenewKubeconfig, gardencorev1beta1.OperationRenewWorkloadIdentityTokens)
	if old == nil {
		return errs
	}
	if was := old.Annotations[gardencorev1beta1.AnnotationOperation]; was != "" && was != value {
		errs = append(errs, field.Forbidden(path, "the seed still has to "+was+"; wait for it or remove it first"))
	}
	return errs
}

func seedSpec(s *gardencorev1beta1.SeedSpec, path *field.Path) field.ErrorList {
	provider := path.Child("provider")
	errs := required(s.Provider.Type, provider.Child("type"), "the provider of the seed's machines")
	errs = append(errs, required(s.Provider.Region, provider.Child("region"), "the region of the seed")...)
	errs = append(errs, duplicates(s.Provider.Zones, provider.Child("zones").Index)...)
	errs = append(errs, networks([]network{
		{"nodes", s.Networks.Nodes}, {"pods", &s.Networks.Pods}, {"services", &s.Networks.Services},
	}, path.Child("networks"))...)
	if d := s.Networks.ShootDefaults; d != nil {
		errs = append(errs, networks([]network{{"pods", d.Pods}, {"services", d.Services}}, path.Child("networks", "shootDefaults"))...)
	}
	errs = append(errs, seedTaints(s.Taints, path.Child("taints"))...)
	errs = append(errs, seedDNS(&s.DNS, path.Child("dns"))...)
	if s.Backup != nil {
		errs = append(errs, required(s.Backup.Provider, path.Child("backup", "provider"), "where backups are kept")...)
	}
	if s.Ingress != nil {
		errs = append(errs, required(s.Ingress.Domain, path.Child("ingress", "domain"), "the domain of the seed's ingress")...)
		errs = append(errs, oneOf(s.Ingress.Controller.Kind, path.Child("ingress", "controller", "kind"), "nginx")...)
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
	return append(errs, duplicates(domains, path.Child("defaults").Index)...)
}

func dnsProvider(d *gardencorev1beta1.SeedDNSProviderConfig, path *field.Path) field.ErrorList {
	errs := required(d.Type, path.Child("type"), "a DNS provider")
	errs = append(errs, required(d.Domain, path.Child("domain"), "a domain")...)
	for _, message := range apivalidation.NameIsDNSSubdomain(d.Domain, false) {
		if d.Domain != "" {
			errs = append(errs, field.Invalid(path.Child("domain"), d.Domain, message))
		}
	}
	return append(errs, required(d.CredentialsRef.Name, path.Child("credentialsRef", "name"), "the Secret with the credentials")...)
}
