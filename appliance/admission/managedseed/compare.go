// SPDX-License-Identifier: Apache-2.0

package managedseed

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// differences compares the description of a Seed at path with its Shoot (API-MS-3).
func differences(seed *gardencorev1beta1.SeedSpec, s *shoot, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	equal := func(at *field.Path, got, want string) {
		if got != want {
			errs = append(errs, field.Invalid(at, got, fmt.Sprintf("must be %q, as in the shoot", want)))
		}
	}
	spec := path.Child("spec")
	equal(spec.Child("provider", "type"), seed.Provider.Type, s.Spec.Provider.Type)
	equal(spec.Child("provider", "region"), seed.Provider.Region, s.Spec.Region)
	if seed.Ingress != nil {
		equal(spec.Child("ingress", "domain"), seed.Ingress.Domain, ingressPrefix+domain(s))
	}
	if n := s.Spec.Networking; n != nil {
		for _, c := range []struct {
			name      string
			got, want *string
		}{
			{"pods", &seed.Networks.Pods, n.Pods},
			{"services", &seed.Networks.Services, n.Services},
			{"nodes", seed.Networks.Nodes, n.Nodes},
		} {
			if c.want != nil {
				equal(spec.Child("networks", c.name), value(c.got), *c.want)
			}
		}
	}
	if set := seed.Settings; set == nil || set.VerticalPodAutoscaler == nil || set.VerticalPodAutoscaler.Enabled {
		errs = append(errs, field.Invalid(spec.Child("settings", "verticalPodAutoscaler", "enabled"), true, "must be false, because the shoot already has one"))
	}
	has := query.Zones(&s.Spec)
	for _, zone := range seed.Provider.Zones {
		if !slices.Contains(has, zone) {
			errs = append(errs, field.Invalid(spec.Child("provider", "zones"), seed.Provider.Zones, fmt.Sprintf("the shoot has no worker pool in zone %q", zone)))
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

// lost rejects the removal of zones from a seed with shoots.
func lost(ctx context.Context, v world.View, old *managedSeed, seed *gardencorev1beta1.SeedSpec, path *field.Path) (field.ErrorList, error) {
	before, err := templateOf(old)
	if err != nil || before.seed == nil {
		return nil, nil //nolint:nilerr // An old description that cannot be decoded has no zones.
	}
	gone := slices.DeleteFunc(slices.Clone(before.seed.Spec.Provider.Zones), func(zone string) bool {
		return slices.Contains(seed.Provider.Zones, zone)
	})
	if len(gone) == 0 {
		return nil, nil
	}
	shoots, err := v.ShootsOn(ctx, old.Name)
	if err != nil {
		return nil, fmt.Errorf("list shoots on seed %q: %w", old.Name, err)
	}
	if len(shoots) == 0 {
		return nil, nil
	}
	return field.ErrorList{field.Forbidden(path.Child("spec", "provider", "zones"), fmt.Sprintf(
		"%s cannot be removed while shoots are on the seed: %s", strings.Join(gone, ", "), strings.Join(shoots, ", ")))}, nil
}
