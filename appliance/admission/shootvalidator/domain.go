// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/holdings"
	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// take decides about what only one shoot can have, and claims it. It comes last, so that a request that is refused for another
// reason claims nothing.
func take(ctx context.Context, v world.View, q request) error {
	held, err := v.Holdings(ctx)
	if err != nil {
		return err
	}
	if err := takeDomain(ctx, held, q); err != nil {
		return err
	}
	return takePlace(ctx, v, held, q)
}

// asked is the request as the holdings of shoots see it.
func (q request) asked(ctx context.Context) holdings.Request {
	return holdings.Request{Owner: owner(q.shoot), Version: q.old.ResourceVersion, DryRun: q.IsDryRun(), Outcome: outcome.From(ctx)}
}

func owner(shoot *gardencorev1beta1.Shoot) string { return shoot.Namespace + "/" + shoot.Name }

// takeDomain rejects a new domain that another shoot has, or that is above or below the domain of another shoot (API-SVAL-18).
func takeDomain(ctx context.Context, held *holdings.Holdings, q request) error {
	wanted := query.Domain(q.shoot.Spec.DNS)
	if wanted == "" || wanted == query.Domain(q.old.Spec.DNS) {
		return nil
	}
	switch held.Domain(q.asked(ctx), wanted) {
	case holdings.Requested:
		return fmt.Errorf("spec.dns.domain: another request has just requested %q, or a domain above or below it; use another "+
			"one, or try again in two minutes", wanted)
	case holdings.Used:
		return fmt.Errorf("spec.dns.domain: %q is used by another shoot", wanted)
	case holdings.Nested:
		return fmt.Errorf("spec.dns.domain: %q is above or below the domain of another shoot", wanted)
	default:
		return nil
	}
}

// takePlace takes one of the places of a seed. Another request may have taken the last one since checkSeed (API-SVAL-4).
func takePlace(ctx context.Context, v world.View, held *holdings.Holdings, q request) error {
	if !q.choosesSeed() {
		return nil
	}
	seed, err := v.Seed(ctx, *q.shoot.Spec.SeedName)
	if err != nil {
		return missingSeed(err, *q.shoot.Spec.SeedName)
	}
	limit, limited := seed.Status.Allocatable[gardencorev1beta1.ResourceShoots]
	if !limited {
		return nil
	}
	if others, free := held.Place(q.asked(ctx), seed.Name, limit.Value()); !free {
		return full(seed, others)
	}
	return nil
}
