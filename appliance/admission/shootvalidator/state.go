// SPDX-License-Identifier: Apache-2.0

package shootvalidator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// settled refuses changes of a shoot whose control plane moves to another seed (API-SVAL-6). A move that has not begun
// can still be called off.
func settled(_ context.Context, _ world.View, q request) error {
	why := query.Moving(q.old)
	if why == "" {
		return nil
	}
	back := q.GetSubresource() == binding && q.shoot.Spec.SeedName != nil && q.old.Status.SeedName != nil &&
		*q.shoot.Spec.SeedName == *q.old.Status.SeedName
	if back && !query.MoveBegun(q.old) {
		return nil
	}
	return fmt.Errorf("the spec of shoot %q cannot change now: %s", q.shoot.Name, why)
}

// awake refuses to put a shoot to sleep that could not be woken up again (API-SVAL-9).
func awake(_ context.Context, _ world.View, q request) error {
	if query.HibernationWanted(q.old) || !query.HibernationWanted(q.shoot) {
		return nil
	}
	c := query.FindCondition(q.old.Status.Constraints, gardencorev1beta1.ConditionTypeHibernationPossible)
	if c == nil || c.Status == gardencorev1beta1.ConditionTrue {
		return nil
	}
	return fmt.Errorf("spec.hibernation.enabled: the shoot cannot be hibernated now: %s", c.Message)
}

// leavingSeed leaves shoots alone whose seed is being deleted: nothing but the confirmation of their deletion may change
// (API-SVAL-8). Gardenlets go on doing their work.
func leavingSeed(ctx context.Context, v world.View, q request) error {
	if q.create || q.old.Spec.SeedName == nil || q.places() || !q.specChanged && !annotated(q) {
		return nil
	}
	if slices.Contains(q.GetUserInfo().GetGroups(), gardencorev1beta1.GroupSeeds) {
		return nil
	}
	seed, err := v.Seed(ctx, *q.old.Spec.SeedName)
	switch {
	case apierrors.IsNotFound(err):
		return nil // It is gone altogether, and holds nobody back.
	case err != nil:
		return fmt.Errorf("read seed %q: %w", *q.old.Spec.SeedName, err)
	case seed.DeletionTimestamp == nil:
		return nil
	}
	return fmt.Errorf("seed %q is being deleted: the deletion of the shoot can be confirmed, and nothing else changed", seed.Name)
}

// annotated reports whether annotations change, beside those about the deletion.
func annotated(q request) bool {
	rest := func(s *gardencorev1beta1.Shoot) map[string]string {
		others := maps.Clone(s.Annotations)
		delete(others, gardencorev1beta1.AnnotationConfirmationDeletion)
		delete(others, gardencorev1beta1.AnnotationDeletionConfirmedBy)
		return others
	}
	return !maps.Equal(rest(q.shoot), rest(q.old))
}
