// SPDX-License-Identifier: Apache-2.0

package managedseed

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// differences are those between a Seed and the Shoot that it is (API-MS-3).
func differences(seed *gardencorev1beta1.SeedSpec, s *shoot) []error {
	var errs []error
	equal := func(path, got, want string) {
		if got != want {
			errs = append(errs, fmt.Errorf("%s: %q is not %q, as the shoot has it", path, got, want))
		}
	}
	equal("spec.provider.type", seed.Provider.Type, s.Spec.Provider.Type)
	equal("spec.provider.region", seed.Provider.Region, s.Spec.Region)
	if seed.Ingress != nil {
		equal("spec.ingress.domain", seed.Ingress.Domain, ingressPrefix+domain(s))
	}
	if n := s.Spec.Networking; n != nil {
		for _, c := range []struct {
			path      string
			got, want *string
		}{
			{"spec.networks.pods", &seed.Networks.Pods, n.Pods},
			{"spec.networks.services", &seed.Networks.Services, n.Services},
			{"spec.networks.nodes", seed.Networks.Nodes, n.Nodes},
		} {
			if c.want != nil {
				equal(c.path, value(c.got), *c.want)
			}
		}
	}
	if set := seed.Settings; set == nil || set.VerticalPodAutoscaler == nil || set.VerticalPodAutoscaler.Enabled {
		errs = append(errs, fmt.Errorf("spec.settings.verticalPodAutoscaler.enabled: it must be false, as the shoot has one already"))
	}
	has := query.Zones(&s.Spec)
	for _, zone := range seed.Provider.Zones {
		if !slices.Contains(has, zone) {
			errs = append(errs, fmt.Errorf("spec.provider.zones: the shoot has no worker pool in zone %q", zone))
		}
	}
	return errs
}

func value(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// lost refuses to take zones away from the shoots on a seed.
func lost(ctx context.Context, v world.View, old *managedSeed, seed *gardencorev1beta1.SeedSpec) error {
	before, err := templateOf(old)
	if err != nil || before.seed == nil {
		return nil //nolint:nilerr // What could not be read before has no zones to lose.
	}
	gone := slices.DeleteFunc(slices.Clone(before.seed.Spec.Provider.Zones), func(zone string) bool {
		return slices.Contains(seed.Provider.Zones, zone)
	})
	if len(gone) == 0 {
		return nil
	}
	shoots, err := v.ShootsOn(ctx, old.Name)
	if err != nil {
		return fmt.Errorf("list shoots on seed %q: %w", old.Name, err)
	}
	if len(shoots) == 0 {
		return nil
	}
	return fmt.Errorf("spec.provider.zones: %s can not be taken away while shoots are on the seed: %s",
		strings.Join(gone, ", "), strings.Join(shoots, ", "))
}
