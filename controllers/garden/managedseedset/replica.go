// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"math"
	"strconv"
	"strings"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// State says how far a replica is. Higher states are further (GCM-MSS-3).
type State int

// The states of replicas.
const (
	Unknown State = iota
	ShootReconcileFailed
	ShootDeleteFailed
	ShootReconciling
	ShootDeleting
	ShootReconciled
	ManagedSeedPreparing
	ManagedSeedDeleting
	ManagedSeedRegistered
)

// Replica is a Shoot of a set and what has been made of it (GCM-MSS-2).
type Replica struct {
	// Name is the name of all three objects, Ordinal the number at its end.
	Name    string
	Ordinal int32
	// Shoot is the shoot.
	Shoot *gardencorev1beta1.Shoot
	// ManagedSeed is nil if it does not exist.
	ManagedSeed *gardenseedmanagementv1alpha1.ManagedSeed
	// Seed is nil if it does not exist.
	Seed *gardencorev1beta1.Seed
	// Hosts says whether shoots are scheduled on the seed.
	Hosts bool
}

// ordinal returns the number of a replica of the set with that name, and whether the name is that of a replica.
func ordinal(set, name string) (int32, bool) {
	digits, found := strings.CutPrefix(name, set+"-")
	number, err := strconv.ParseInt(digits, 10, 32)
	// A name has one number only: "07" and "+7" are not 7. The greatest number has none after it.
	if !found || err != nil || number < 0 || number == math.MaxInt32 || strconv.FormatInt(number, 10) != digits {
		return 0, false
	}
	return int32(number), true
}

func replicaName(set string, ordinal int32) string {
	return set + "-" + strconv.FormatInt(int64(ordinal), 10)
}

// State returns how far the replica is. The ManagedSeed decides while it exists, because its shoot cannot go before it.
func (r *Replica) State() State {
	switch {
	case r.ManagedSeed != nil && r.ManagedSeed.DeletionTimestamp != nil:
		return ManagedSeedDeleting
	case r.ManagedSeed != nil && registered(r.ManagedSeed):
		return ManagedSeedRegistered
	case r.ManagedSeed != nil:
		return ManagedSeedPreparing
	case r.Shoot == nil:
		return Unknown
	default:
		return stateOfShoot(r.Shoot)
	}
}

// stateOfShoot believes the last operation only if it is about the present generation.
func stateOfShoot(shoot *gardencorev1beta1.Shoot) State {
	last := shoot.Status.LastOperation
	ended := last != nil && shoot.Status.ObservedGeneration == shoot.Generation
	failed := ended && last.State == gardencorev1beta1.LastOperationStateFailed
	if shoot.DeletionTimestamp != nil {
		if failed && last.Type == gardencorev1beta1.LastOperationTypeDelete {
			return ShootDeleteFailed
		}
		return ShootDeleting
	}
	switch {
	case failed && last.Type != gardencorev1beta1.LastOperationTypeDelete:
		return ShootReconcileFailed
	case ended && last.State == gardencorev1beta1.LastOperationStateSucceeded && last.Type != gardencorev1beta1.LastOperationTypeDelete:
		return ShootReconciled
	default:
		return ShootReconciling
	}
}

func registered(m *gardenseedmanagementv1alpha1.ManagedSeed) bool {
	return m.Status.ObservedGeneration == m.Generation &&
		kit.ConditionIs(m.Status.Conditions, gardenseedmanagementv1alpha1.ConditionTypeSeedRegistered, gardencorev1beta1.ConditionTrue)
}

// SeedReady reports whether the seed takes shoots (GCM-MSS-4). A seed without backup buckets is ready, as it is for the
// scheduler.
func (r *Replica) SeedReady() bool {
	if r.Seed == nil || r.Seed.DeletionTimestamp != nil || r.Seed.Status.ObservedGeneration != r.Seed.Generation {
		return false
	}
	conditions := r.Seed.Status.Conditions
	buckets := query.FindCondition(conditions, gardencorev1beta1.ConditionTypeBackupBucketsReady)
	return kit.ConditionIs(conditions, gardencorev1beta1.ConditionTypeGardenletReady, gardencorev1beta1.ConditionTrue) &&
		kit.ConditionIs(conditions, gardencorev1beta1.ConditionTypeSeedSystemComponentsHealthy, gardencorev1beta1.ConditionTrue) &&
		(buckets == nil || buckets.Status == gardencorev1beta1.ConditionTrue || buckets.Reason == gardencorev1beta1.ReasonBackupBucketsGone)
}

// health orders the values of the status label of a shoot from worst to best.
func (r *Replica) health() int {
	if r.Shoot == nil {
		return 0
	}
	switch r.Shoot.Labels[gardencorev1beta1.LabelShootStatus] {
	case gardencorev1beta1.ShootStatusHealthy:
		return 3
	case gardencorev1beta1.ShootStatusProgressing:
		return 2
	case gardencorev1beta1.ShootStatusUnhealthy:
		return 0
	default:
		return 1
	}
}

func (r *Replica) shootHealthy() bool {
	return r.Shoot != nil && r.Shoot.Labels[gardencorev1beta1.LabelShootStatus] == gardencorev1beta1.ShootStatusHealthy
}

// Ready reports whether the replica is what the set asks for (GCM-MSS-4).
func (r *Replica) Ready() bool {
	return r.State() == ManagedSeedRegistered && r.SeedReady() && r.shootHealthy()
}

// Deletable reports whether the replica may be removed (GCM-MSS-5).
func (r *Replica) Deletable() bool {
	return !r.Hosts && (r.Shoot == nil || !protected(r.Shoot.Annotations)) && (r.ManagedSeed == nil || !protected(r.ManagedSeed.Annotations))
}

func protected(annotations map[string]string) bool {
	protect, err := strconv.ParseBool(annotations[gardencorev1beta1.AnnotationProtectFromDeletion])
	return err == nil && protect
}
