// SPDX-License-Identifier: Apache-2.0

package shootdns

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// tooWide rejects a domain that would shut out others: no shoot gets a domain below that of another one (API-SVAL-18), so with a domain
// like "com", or the one above the default domain, one shoot would keep all others from theirs. Nobody has to own a domain to ask for it.
func tooWide(domain string, defaults []string) error {
	if len(validation.IsDNS1123Subdomain(domain)) > 0 {
		return nil // The validation says what is wrong with it.
	}
	if query.PublicSuffix(domain) {
		return fmt.Errorf("spec.dns.domain: %q is one in which everybody can register names; use a domain below it that is yours", domain)
	}
	for _, d := range defaults {
		if domain == d || query.Below(d, domain) {
			return fmt.Errorf("spec.dns.domain: %q holds the default domain %q of the garden, in which all shoots have a place; use another one", domain, d)
		}
	}
	return nil
}

// everyDefault returns the default domains of the garden and of all seeds: a shoot may get a seed later.
func everyDefault(ctx context.Context, v world.View) ([]string, error) {
	domains, err := v.DefaultDomains(ctx, nil)
	if err != nil {
		return nil, err
	}
	seeds, err := world.List[gardencorev1beta1.SeedList](ctx, v, world.Place{Group: gardencorev1beta1.GroupName, Resource: "seeds"}, fields.Everything())
	if err != nil {
		return nil, fmt.Errorf("list default domains of seeds: %w", err)
	}
	for i := range seeds.Items {
		for _, d := range seeds.Items[i].Spec.DNS.Defaults {
			domains = append(domains, d.Domain)
		}
	}
	return domains, nil
}
