// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// checkSeed checks a seed that the request chooses. It applies the rules of the scheduler again, because the seed may have
// been filled in the meantime, and because clients other than the scheduler can choose seeds (API-SVAL-3 to 5, 7, 12).
func checkSeed(ctx context.Context, v world.View, q request, profile *gardencorev1beta1.CloudProfile) error {
	seed, err := v.Seed(ctx, *q.shoot.Spec.SeedName)
	if err != nil {
		return missingSeed(err, *q.shoot.Spec.SeedName)
	}
	if seed.DeletionTimestamp != nil {
		return fmt.Errorf("seed %q is being deleted", seed.Name)
	}
	for _, against := range []string{
		query.SelectorMismatch(profile.Spec.SeedSelector, fmt.Sprintf("CloudProfile %q", profile.Name), seed),
		query.SelectorMismatch(q.shoot.Spec.SeedSelector, "the shoot", seed),
		query.MissingZones(q.shoot, seed),
		query.MissingAccessRestriction(q.shoot, seed),
		query.NetworkConflict(q.shoot, seed),
		query.Intolerance(q.shoot, seed),
	} {
		if against != "" {
			return fmt.Errorf("seed %q cannot host the shoot: %s", seed.Name, against)
		}
	}
	if err := checkMove(ctx, v, q, seed); err != nil {
		return err
	}
	return capacity(ctx, v, seed, q.shoot)
}

// capacity rejects a seed that is full (API-SVAL-4). The place is taken later; see take.
func capacity(ctx context.Context, v world.View, seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot) error {
	if _, limited := seed.Status.Allocatable[gardencorev1beta1.ResourceShoots]; !limited {
		return nil
	}
	held, err := v.Holdings(ctx)
	if err != nil {
		return err
	}
	return full(seed, held.Others(owner(shoot), seed.Name))
}

func full(seed *gardencorev1beta1.Seed, others int64) error {
	if against := query.Full(seed, others); against != "" {
		return fmt.Errorf("seed %q cannot host the shoot: %s", seed.Name, against)
	}
	return nil
}

// checkNetworks checks that a shoot on a seed has networks after the seed's defaults have been applied (API-SVAL-12).
func checkNetworks(q request) field.ErrorList {
	n := q.shoot.Spec.Networking
	if q.shoot.Spec.SeedName == nil || n == nil || query.SelfHosted(&q.shoot.Spec) {
		return nil
	}
	var errs field.ErrorList
	if n.Pods == nil && !query.Workerless(&q.shoot.Spec) {
		errs = append(errs, openNetwork("pods", *q.shoot.Spec.SeedName))
	}
	if n.Services == nil {
		errs = append(errs, openNetwork("services", *q.shoot.Spec.SeedName))
	}
	return errs
}

func openNetwork(name, seed string) *field.Error {
	path := field.NewPath("spec", "networking", name)
	return field.Required(path, fmt.Sprintf("seed %q has no default for it", seed))
}

func missingSeed(err error, name string) error { return world.Missing(err, pathSeed, "Seed", name) }
