// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// defaultDomain keeps the seeds that host the domain of the shoot: one below a default domain of any seed of the garden
// must be the shoot's own there, and its seed must have this default domain (SCHED-FILT-8).
func defaultDomain(in Input, candidates []*gardencorev1beta1.Seed, rejected rejections) []*gardencorev1beta1.Seed {
	domain := domainOf(in.Shoot)
	isBelow := func(seed gardencorev1beta1.Seed) bool {
		return slices.ContainsFunc(seed.Spec.DNS.Defaults, func(d gardencorev1beta1.SeedDNSProviderConfig) bool {
			return strings.HasSuffix(domain, "."+d.Domain)
		})
	}
	if domain == "" || !slices.ContainsFunc(in.Seeds, isBelow) {
		return candidates
	}
	return keep(in, candidates, rejected, hostsDomain)
}

func hostsDomain(in Input, seed *gardencorev1beta1.Seed) string {
	for _, d := range seed.Spec.DNS.Defaults {
		if domainOf(in.Shoot) == in.Shoot.Name+"."+in.Project+"."+d.Domain {
			return ""
		}
	}
	return fmt.Sprintf("it has no default domain in which domain %q is the shoot's own", domainOf(in.Shoot))
}

func domainOf(shoot *gardencorev1beta1.Shoot) string {
	if shoot.Spec.DNS == nil || shoot.Spec.DNS.Domain == nil {
		return ""
	}
	return *shoot.Spec.DNS.Domain
}
