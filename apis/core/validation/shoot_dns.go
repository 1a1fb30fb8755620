// SPDX-License-Identifier: Apache-2.0

package validation

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// shootDNS checks the section about DNS (API-VALSHOOT-4).
func shootDNS(d *gardencorev1beta1.DNS, path *field.Path) field.ErrorList {
	if d == nil {
		return nil
	}
	var errs field.ErrorList
	if d.Domain != nil {
		for _, message := range apivalidation.NameIsDNSSubdomain(*d.Domain, false) {
			errs = append(errs, field.Invalid(path.Child("domain"), *d.Domain, message))
		}
	}
	providers := path.Child("providers")
	primaries := 0
	pairs := make([]string, 0, len(d.Providers))
	for i := range d.Providers {
		p := &d.Providers[i]
		errs = append(errs, shootDNSProvider(p, providers.Index(i))...)
		pairs = append(pairs, credentialsOf(p)+" "+deref(p.Type))
		if !deref(p.Primary) {
			continue
		}
		if primaries++; primaries > 1 {
			errs = append(errs, field.Forbidden(providers.Index(i).Child("primary"), "only one provider can be the primary one"))
		}
		if d.Domain == nil && p.Type != nil && *p.Type != gardencorev1beta1.DNSProviderUnmanaged {
			errs = append(errs, field.Required(path.Child("domain"), `must be given unless the primary provider is "unmanaged"`))
		}
	}
	for _, e := range duplicates(pairs, providers.Index) {
		errs = append(errs, field.Invalid(field.NewPath(e.Field), e.BadValue, "no two providers have the same credentials and type"))
	}
	return errs
}

func shootDNSProvider(p *gardencorev1beta1.DNSProvider, path *field.Path) field.ErrorList {
	typ, credentials := deref(p.Type), credentialsOf(p)
	errs := dnsCredentials(p, path)
	if typ == gardencorev1beta1.DNSProviderUnmanaged {
		if credentials != "" {
			errs = append(errs, field.Invalid(path.Child("credentialsRef"), credentials, `a provider of type "unmanaged" needs no credentials`))
		}
		return errs
	}
	secondary := !deref(p.Primary)
	if typ == "" && (credentials != "" || secondary) {
		errs = append(errs, field.Required(path.Child("type"), "must be the type of the provider that the credentials are for"))
	}
	if credentials == "" && secondary {
		errs = append(errs, field.Required(path.Child("credentialsRef"), "a provider that is not the primary one needs credentials"))
	}
	return errs
}

// dnsCredentials checks the two ways of naming credentials, and that they agree (API-SHOOTSTRAT-10).
func dnsCredentials(p *gardencorev1beta1.DNSProvider, path *field.Path) field.ErrorList {
	ref, here := p.CredentialsRef, path.Child("credentialsRef")
	if ref == nil {
		return nil
	}
	errs := required(ref.Name, here.Child("name"), "the credentials")
	errs = append(errs, oneOf(ref.Kind, here.Child("kind"), "Secret", "WorkloadIdentity")...)
	versions := map[string]string{"Secret": "v1", "WorkloadIdentity": "security.gardener.cloud/v1alpha1"}
	if want, known := versions[ref.Kind]; known {
		errs = append(errs, oneOf(ref.APIVersion, here.Child("apiVersion"), want)...)
	}
	if p.SecretName != nil && (ref.Kind != "Secret" || ref.Name != *p.SecretName) {
		errs = append(errs, field.Forbidden(path.Child("secretName"), "must be the same as credentialsRef.name"))
	}
	return errs
}

// credentialsOf returns a unique form of the credentials of a provider from the one of its two fields that is set.
func credentialsOf(p *gardencorev1beta1.DNSProvider) string {
	ref := p.CredentialsRef
	if ref == nil {
		if deref(p.SecretName) == "" {
			return ""
		}
		ref = &autoscalingv1.CrossVersionObjectReference{Kind: "Secret", Name: *p.SecretName}
	}
	return ref.Kind + "/" + ref.Name
}

// shootDNSUpdate checks that the domain is immutable, and also the primary provider and its type once the shoot has a seed. A
// primary provider without a type can get one (API-VALSHOOT-2, 3).
func shootDNSUpdate(s, old *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	if old.DNS == nil {
		return nil
	}
	if s.DNS == nil {
		return field.ErrorList{field.Invalid(path, nil, "cannot be removed")}
	}
	errs := immutableOnceSet(s.DNS.Domain, old.DNS.Domain, path.Child("domain"))
	if old.SeedName == nil {
		return errs
	}
	was := query.PrimaryProvider(old.DNS)
	if was == nil {
		return errs
	}
	now := query.PrimaryProvider(s.DNS)
	if now == nil {
		return append(errs, field.Forbidden(path.Child("providers"), "the primary provider cannot be removed from a shoot that has a seed"))
	}
	if was.Type != nil && deref(now.Type) != *was.Type {
		errs = append(errs, field.Forbidden(path.Child("providers"),
			`the type of the primary provider must stay "`+*was.Type+`" on a shoot that has a seed`))
	}
	return errs
}
