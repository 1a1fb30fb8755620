// SPDX-License-Identifier: Apache-2.0

package shootdns

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// defaultDomains returns the default domains, the preferred one first: those of the seed, or those of the Secrets in the
// garden (API-DNS-1).
func defaultDomains(ctx context.Context, v world.View, seed *gardencorev1beta1.Seed) ([]string, error) {
	var domains []string
	if seed != nil && len(seed.Spec.DNS.Defaults) > 0 {
		for _, d := range seed.Spec.DNS.Defaults {
			domains = append(domains, d.Domain)
		}
		return domains, nil
	}
	wanted := labels.SelectorFromSet(labels.Set{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleDefaultDomain})
	secrets, err := v.Secrets(ctx, gardencorev1beta1.NamespaceGarden, wanted)
	if err != nil {
		return nil, fmt.Errorf("list default domains: %w", err)
	}
	slices.SortStableFunc(secrets, func(a, b corev1.Secret) int {
		return cmp.Or(cmp.Compare(priority(&b), priority(&a)), cmp.Compare(a.Name, b.Name))
	})
	for i := range secrets {
		domain := secrets[i].Annotations[gardencorev1beta1.AnnotationDNSDomain]
		if domain != "" && secrets[i].Annotations[gardencorev1beta1.AnnotationDNSProvider] != "" {
			domains = append(domains, domain)
		}
	}
	return domains, nil
}

// priority returns the priority of a default domain; a value that is not a number is ignored.
func priority(s *corev1.Secret) int {
	n, err := strconv.Atoi(s.Annotations[gardencorev1beta1.AnnotationDNSDefaultPriority])
	if err != nil {
		return 0
	}
	return n
}

// belowAny returns the domain of a list that contains a domain, or an empty string.
func belowAny(domain string, domains []string) string {
	for _, d := range domains {
		if query.Below(domain, d) {
			return d
		}
	}
	return ""
}

// unmanaged reports whether the DNS records of a shoot are unmanaged.
func unmanaged(dns *gardencorev1beta1.DNS) bool {
	return dns != nil && slices.ContainsFunc(dns.Providers, func(p gardencorev1beta1.DNSProvider) bool {
		return p.Type != nil && *p.Type == gardencorev1beta1.DNSProviderUnmanaged
	})
}

// same reports whether two providers have the same type and credentials.
func same(a, b *gardencorev1beta1.DNSProvider) bool {
	return equality.Semantic.DeepEqual(a.Type, b.Type) && equality.Semantic.DeepEqual(credentials(a), credentials(b))
}

// credentials returns the name of the credentials from the one of the two fields that is set.
func credentials(p *gardencorev1beta1.DNSProvider) string {
	switch {
	case p.CredentialsRef != nil:
		return p.CredentialsRef.Kind + "/" + p.CredentialsRef.Name
	case p.SecretName != nil:
		return "Secret/" + *p.SecretName
	default:
		return ""
	}
}
