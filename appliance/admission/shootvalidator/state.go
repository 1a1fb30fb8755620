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

// checkNotMoving rejects changes of a shoot whose control plane is being moved to another seed. A move that has not begun
// can be cancelled (API-SVAL-6).
func checkNotMoving(_ context.Context, _ world.View, q request) error {
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

// checkHibernation rejects the hibernation of a shoot that could not be woken up again (API-SVAL-9).
func checkHibernation(_ context.Context, _ world.View, q request) error {
	if query.HibernationWanted(q.old) || !query.HibernationWanted(q.shoot) {
		return nil
	}
	c := query.FindCondition(q.old.Status.Constraints, gardencorev1beta1.ConditionTypeHibernationPossible)
	if c == nil || c.Status == gardencorev1beta1.ConditionTrue {
		return nil
	}
	return fmt.Errorf("spec.hibernation.enabled: the shoot cannot be hibernated now: %s", c.Message)
}

// checkSeedInDeletion rejects changes of a shoot whose seed is in deletion, except for the confirmation of the shoot's
// deletion. Gardenlets may continue to change it (API-SVAL-8).
func checkSeedInDeletion(ctx context.Context, v world.View, q request) error {
	if q.create || q.old.Spec.SeedName == nil || q.choosesSeed() || !q.specChanged && !annotated(q) {
		return nil
	}
	if slices.Contains(q.GetUserInfo().GetGroups(), gardencorev1beta1.GroupSeeds) {
		return nil
	}
	seed, err := v.Seed(ctx, *q.old.Spec.SeedName)
	switch {
	case apierrors.IsNotFound(err):
		return nil // The seed is deleted already.
	case err != nil:
		return fmt.Errorf("read seed %q: %w", *q.old.Spec.SeedName, err)
	case seed.DeletionTimestamp == nil:
		return nil
	}
	return fmt.Errorf("seed %q is being deleted: only the deletion of the shoot can be confirmed", seed.Name)
}

// annotated reports whether annotations other than those about the deletion change.
func annotated(q request) bool {
	rest := func(s *gardencorev1beta1.Shoot) map[string]string {
		others := maps.Clone(s.Annotations)
		delete(others, gardencorev1beta1.AnnotationConfirmationDeletion)
		delete(others, gardencorev1beta1.AnnotationDeletionConfirmedBy)
		return others
	}
	return !maps.Equal(rest(q.shoot), rest(q.old))
}
