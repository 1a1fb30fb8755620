// SPDX-License-Identifier: Apache-2.0

package migration

import (
	"fmt"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// The reasons of the constraint.
const (
	reasonReady      = "DestinationSeedReady"
	reasonInDeletion = "DestinationSeedInDeletion"
	reasonUnready    = "DestinationSeedUnready"
)

// Moving reports whether a shoot is to move to another seed, or moves. A shoot without a status is created, not moved.
func Moving(shoot *gardencorev1beta1.Shoot) bool {
	if shoot.Spec.SeedName == nil || shoot.DeletionTimestamp != nil {
		return false
	}
	if running := shoot.Status.SeedName; running != nil && *running != *shoot.Spec.SeedName {
		return true
	}
	last := shoot.Status.LastOperation
	if last == nil {
		return false
	}
	switch last.Type {
	case gardencorev1beta1.LastOperationTypeMigrate:
		return true
	case gardencorev1beta1.LastOperationTypeRestore, gardencorev1beta1.LastOperationTypeLiveMigrate:
		return last.State != gardencorev1beta1.LastOperationStateSucceeded
	default:
		return false
	}
}

// Judge says whether a seed can take over a shoot from another one. The other one is nil when it is gone: then nobody knows which
// version its gardenlet had.
func Judge(destination, source *gardencorev1beta1.Seed) gardencorev1beta1.Condition {
	finding := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeReadyForMigration, Status: gardencorev1beta1.ConditionFalse}
	if destination.DeletionTimestamp != nil {
		finding.Reason, finding.Message = reasonInDeletion, fmt.Sprintf("Seed %s is being deleted", destination.Name)
		return finding
	}
	if flaw := unready(destination, source); flaw != "" {
		finding.Reason, finding.Message = reasonUnready, fmt.Sprintf("Seed %s is not ready: %s", destination.Name, flaw)
		return finding
	}
	finding.Status = gardencorev1beta1.ConditionTrue
	finding.Reason, finding.Message = reasonReady, fmt.Sprintf("Seed %s can take over the control plane", destination.Name)
	return finding
}

// unready says what a seed lacks to take over a shoot, or nothing.
func unready(destination, source *gardencorev1beta1.Seed) string {
	status := &destination.Status
	if status.ObservedGeneration != destination.Generation {
		return "its gardenlet has not seen its current specification"
	}
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy,
	} {
		if !kit.ConditionIs(status.Conditions, kind, gardencorev1beta1.ConditionTrue) {
			return fmt.Sprintf("its condition %s is not True", kind)
		}
	}
	if buckets := query.FindCondition(status.Conditions, gardencorev1beta1.ConditionTypeBackupBucketsReady); buckets != nil &&
		buckets.Status == gardencorev1beta1.ConditionFalse {
		return fmt.Sprintf("its condition %s is False", buckets.Type)
	}
	if want, have := version(source), version(destination); want != "" && have != want {
		return fmt.Sprintf("its gardenlet has version %q, that of seed %s has %q", have, source.Name, want)
	}
	return ""
}

func version(seed *gardencorev1beta1.Seed) string {
	if seed == nil || seed.Status.Gardener == nil {
		return ""
	}
	return seed.Status.Gardener.Version
}
