// SPDX-License-Identifier: Apache-2.0

package shootdns

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

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
