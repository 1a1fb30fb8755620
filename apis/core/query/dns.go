// SPDX-License-Identifier: Apache-2.0

package query

import (
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Domain returns the domain of a shoot; it is empty if the shoot has none.
func Domain(d *gardencorev1beta1.DNS) string {
	if d == nil || d.Domain == nil {
		return ""
	}
	return *d.Domain
}

// Below reports whether a domain lies below another one.
func Below(domain, above string) bool { return strings.HasSuffix(domain, "."+above) }

// PublicSuffix reports whether everybody can register names in a domain, as in "com". So can nobody claim it alone.
func PublicSuffix(domain string) bool {
	suffix, public := publicsuffix.PublicSuffix(domain)
	return suffix == domain && (public || !strings.Contains(domain, "."))
}

// Nested reports whether one of two domains lies below the other.
func Nested(a, b string) bool { return Below(a, b) || Below(b, a) }

// PrimaryProvider returns the DNS provider that is marked as primary, or nil.
func PrimaryProvider(d *gardencorev1beta1.DNS) *gardencorev1beta1.DNSProvider {
	if i := PrimaryIndex(d); i >= 0 {
		return &d.Providers[i]
	}
	return nil
}

// PrimaryIndex returns the index of the DNS provider that is marked as primary, or -1. A provider without the mark is not
// primary, even if it is the only one: admission marks the provider that hosts a shoot's own domain, and the providers of a
// shoot with a default domain host something else (API-DNS-5).
func PrimaryIndex(d *gardencorev1beta1.DNS) int {
	if d == nil {
		return -1
	}
	return slices.IndexFunc(d.Providers, func(p gardencorev1beta1.DNSProvider) bool { return p.Primary != nil && *p.Primary })
}

// Manages reports whether an extension manages records for a DNS provider. If the provider has no type or the type
// unmanaged, the owner of the shoot manages them.
func Manages(p *gardencorev1beta1.DNSProvider) bool {
	return p.Type != nil && *p.Type != gardencorev1beta1.DNSProviderUnmanaged
}

// DomainProvider returns the DNS provider with which an extension manages the records of a shoot's own domain, or nil.
func DomainProvider(d *gardencorev1beta1.DNS) *gardencorev1beta1.DNSProvider {
	if p := PrimaryProvider(d); p != nil && Manages(p) {
		return p
	}
	return nil
}
