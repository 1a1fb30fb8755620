// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// resourceShoots is the resource by which a seed limits its number of shoots (SCHED-CAP-1).
const resourceShoots = corev1.ResourceName(gardencorev1beta1.ResourceShoots)

// scheduling judges a seed that the request chooses (API-SVAL-3, 4, 8). It asks again what the scheduler asked, because
// others may have been faster.
func (r *rule) scheduling(ctx context.Context, q request) error {
	name := q.shoot.Spec.SeedName
	if name == nil || q.old.Spec.SeedName != nil && *q.old.Spec.SeedName == *name {
		return nil
	}
	seed, err := r.world.Seed(ctx, *name)
	if err != nil {
		return fmt.Errorf("read Seed %q: %w", *name, err)
	}
	if seed.DeletionTimestamp != nil {
		return fmt.Errorf("seed %q is being deleted", seed.Name)
	}
	if t := untolerated(seed.Spec.Taints, q.shoot.Spec.Tolerations); t != nil {
		return fmt.Errorf("seed %q has the taint %q, which the shoot does not tolerate", seed.Name, t.Key)
	}
	return r.capacity(ctx, seed, q.shoot)
}

// untolerated returns the first taint without a fitting toleration: one of the same key that names either no value or
// the same (SCHED-TAINT-1).
func untolerated(
	taints []gardencorev1beta1.SeedTaint, tolerations []gardencorev1beta1.Toleration,
) *gardencorev1beta1.SeedTaint {
	for i, t := range taints {
		fits := func(o gardencorev1beta1.Toleration) bool {
			return o.Key == t.Key && (t.Value == nil || o.Value != nil && *o.Value == *t.Value)
		}
		if !slices.ContainsFunc(tolerations, fits) {
			return &taints[i]
		}
	}
	return nil
}

func (r *rule) capacity(ctx context.Context, seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot) error {
	limit, limited := seed.Status.Allocatable[resourceShoots]
	if !limited {
		return nil
	}
	shoots, err := r.world.Shoots(ctx, "", fields.Everything())
	if err != nil {
		return fmt.Errorf("list shoots: %w", err)
	}
	used := int64(0)
	for _, s := range shoots {
		itself := s.Namespace == shoot.Namespace && s.Name == shoot.Name
		if !itself && (on(s.Spec.SeedName, seed.Name) || on(s.Status.SeedName, seed.Name)) {
			used++
		}
	}
	if used >= limit.Value() {
		return fmt.Errorf("seed %q is full: it runs %d of %d shoots", seed.Name, used, limit.Value())
	}
	return nil
}

func on(name *string, seed string) bool { return name != nil && *name == seed }
