// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// checkSeedSelector checks that a changed seed selector selects the seed that the shoot is on (API-SVAL-20).
func checkSeedSelector(ctx context.Context, v world.View, q request) error {
	selector := q.shoot.Spec.SeedSelector
	if selector == nil || q.old.Spec.SeedName == nil || q.choosesSeed() || equality.Semantic.DeepEqual(selector, q.old.Spec.SeedSelector) {
		return nil
	}
	seed, err := v.Seed(ctx, *q.old.Spec.SeedName)
	if err != nil {
		return missingSeed(err, *q.old.Spec.SeedName)
	}
	if against := query.SelectorMismatch(selector, "the shoot", seed); against != "" {
		return fmt.Errorf("spec.seedSelector: must select seed %q, which the shoot is on: %s", seed.Name, against)
	}
	return nil
}

// checkSeedSuffices checks that the seed that a shoot stays on has what an update asks of it: zones for a failure tolerance, and access
// restrictions. What the shoot had before is accepted (API-SVAL-3, API-SVAL-7).
func checkSeedSuffices(ctx context.Context, v world.View, q request) error {
	if q.create || q.old.Spec.SeedName == nil || q.choosesSeed() {
		return nil
	}
	asked := &gardencorev1beta1.Shoot{}
	if !query.SurvivesZone(&q.old.Spec) {
		asked.Spec.ControlPlane = q.shoot.Spec.ControlPlane
	}
	before := names(q.old.Spec.AccessRestrictions, restrictionOf)
	for _, r := range q.shoot.Spec.AccessRestrictions {
		if !slices.Contains(before, r.Name) {
			asked.Spec.AccessRestrictions = append(asked.Spec.AccessRestrictions, r)
		}
	}
	if !query.SurvivesZone(&asked.Spec) && len(asked.Spec.AccessRestrictions) == 0 {
		return nil
	}
	seed, err := v.Seed(ctx, *q.old.Spec.SeedName)
	if err != nil {
		return missingSeed(err, *q.old.Spec.SeedName)
	}
	if against := cmp.Or(query.MissingZones(asked, seed), query.MissingAccessRestriction(asked, seed)); against != "" {
		return fmt.Errorf("seed %q, which the shoot is on, cannot do this: %s", seed.Name, against)
	}
	return nil
}

func restrictionOf(r gardencorev1beta1.AccessRestrictionWithOptions) string { return r.Name }

// checkControlPlaneZones checks that the seed has the zones that are chosen for the control plane (API-SVAL-20).
func checkControlPlaneZones(ctx context.Context, v world.View, q request) error {
	zones := zonesOf(&q.shoot.Spec)
	if len(zones) == 0 || q.shoot.Spec.SeedName == nil || !q.choosesSeed() && slices.Equal(zones, zonesOf(&q.old.Spec)) {
		return nil
	}
	seed, err := v.Seed(ctx, *q.shoot.Spec.SeedName)
	if err != nil {
		return missingSeed(err, *q.shoot.Spec.SeedName)
	}
	for _, zone := range zones {
		if !slices.Contains(seed.Spec.Provider.Zones, zone) {
			return fmt.Errorf("spec.controlPlane.zones: seed %q has no zone %q", seed.Name, zone)
		}
	}
	return nil
}

func zonesOf(s *gardencorev1beta1.ShootSpec) []string {
	if s.ControlPlane == nil {
		return nil
	}
	return s.ControlPlane.Zones
}
