// SPDX-License-Identifier: Apache-2.0

// Package seedvalidator keeps a Seed from being deleted while shoots are on it, and from losing what they stand on
// (API-SEEDVAL-1, 2).
package seedvalidator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New makes the rule.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Update, admission.Delete), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate refuses what would harm the shoots on a seed. Without shoots a seed may change and go.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	old, ok := a.GetOldObject().(*gardencorev1beta1.Seed)
	if !ok || a.GetSubresource() != "" {
		return nil
	}
	complaint := "the seed still runs shoots, delete or move them first"
	if a.GetOperation() == admission.Update {
		seed, ok := a.GetObject().(*gardencorev1beta1.Seed)
		if !ok {
			return nil
		}
		if complaint = lost(seed, old); complaint == "" {
			return nil
		}
	}
	shoots, err := r.world.Fresh().ShootsOn(ctx, old.Name)
	switch {
	case err != nil:
		return world.Answer(a, fmt.Errorf("list shoots on the seed: %w", err))
	case len(shoots) == 0:
		return nil
	default:
		return world.Answer(a, fmt.Errorf("%s: %s", complaint, strings.Join(shoots, ", ")))
	}
}

// lost says what shoots would lose by an update, or nothing.
func lost(seed, old *gardencorev1beta1.Seed) string {
	for _, zone := range old.Spec.Provider.Zones {
		if !slices.Contains(seed.Spec.Provider.Zones, zone) {
			return fmt.Sprintf("spec.provider.zones: zone %q can not be taken away while shoots are on the seed", zone)
		}
	}
	was := old.Spec.DNS.Internal
	if is := seed.Spec.DNS.Internal; was != nil && (is == nil || is.Domain != was.Domain) {
		return fmt.Sprintf("spec.dns.internal: the domain %q can not be taken away while shoots are on the seed", was.Domain)
	}
	return ""
}
