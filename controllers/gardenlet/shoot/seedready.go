// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"fmt"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// CheckSeed returns why no operation may run on the shoots of a seed now, or nil: it has to be brought up to date by this very
// process first, and be healthy. A seed in deletion only has shoots to delete and is exempt. An operator may stop all of
// them in an emergency, deletions as well.
func CheckSeed(seed *gardencorev1beta1.Seed, identity gardencorev1beta1.Gardener) error {
	if query.EmergencyStopped(seed) {
		return fmt.Errorf("an operator has stopped all operations on the shoots of seed %q (annotation %s)", seed.Name, gardencorev1beta1.AnnotationSeedEmergencyStop)
	}
	if seed.DeletionTimestamp != nil {
		return nil
	}
	if seed.Status.Gardener == nil || *seed.Status.Gardener != identity {
		return fmt.Errorf("seed %q was not yet reconciled by this gardenlet", seed.Name)
	}
	if seed.Status.ObservedGeneration != seed.Generation {
		return fmt.Errorf("seed %q was changed and is not yet reconciled", seed.Name)
	}
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy,
	} {
		condition := query.FindCondition(seed.Status.Conditions, kind)
		if condition == nil {
			return fmt.Errorf("seed %q has no condition %s yet", seed.Name, kind)
		}
		if condition.Status != gardencorev1beta1.ConditionTrue {
			return fmt.Errorf("seed %q is not healthy: condition %s is %s: %s", seed.Name, kind, condition.Status, condition.Message)
		}
	}
	return nil
}
