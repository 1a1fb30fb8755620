// SPDX-License-Identifier: Apache-2.0

package world

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// DefaultDomains returns the default domains of shoots on a seed, the preferred one first: those of the seed, or those of the Secrets in the
// garden, which also apply without a seed (API-DNS-1).
func (v View) DefaultDomains(ctx context.Context, seed *gardencorev1beta1.Seed) ([]string, error) {
	if seed != nil && len(seed.Spec.DNS.Defaults) > 0 {
		return query.DefaultDomains(seed, nil), nil
	}
	wanted := labels.SelectorFromSet(labels.Set{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleDefaultDomain})
	secrets, err := v.Secrets(ctx, gardencorev1beta1.NamespaceGarden, wanted)
	if err != nil {
		return nil, fmt.Errorf("list default domains: %w", err)
	}
	slices.SortStableFunc(secrets, func(a, b corev1.Secret) int {
		return cmp.Or(cmp.Compare(domainPriority(&b), domainPriority(&a)), cmp.Compare(a.Name, b.Name))
	})
	var domains []string
	for i := range secrets {
		domain := secrets[i].Annotations[gardencorev1beta1.AnnotationDNSDomain]
		if domain != "" && secrets[i].Annotations[gardencorev1beta1.AnnotationDNSProvider] != "" {
			domains = append(domains, domain)
		}
	}
	return domains, nil
}

// domainPriority returns the priority of a default domain; a value that is not a number is ignored.
func domainPriority(s *corev1.Secret) int {
	n, err := strconv.Atoi(s.Annotations[gardencorev1beta1.AnnotationDNSDefaultPriority])
	if err != nil {
		return 0
	}
	return n
}
