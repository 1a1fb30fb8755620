// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"k8s.io/utils/ptr"

	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// drive moves a replica on, and reports whether it has to be waited for (GCM-MSS-8). A set that shrinks does not wait for what
// nobody works on, because that may never become ready, and could be removed instead.
func (v View) drive(r *Replica) (move, bool) {
	if v.shrinking() && idle(r) {
		if r.State() == ShootReconciled && r.Deletable() && v.isPending(r.Name) {
			return removal(r), true
		}
		return move{}, false
	}
	m := move{replica: r.Name}
	switch r.State() {
	case ShootReconcileFailed:
		return v.retry(r, retryOf(false)), true
	case ShootDeleteFailed:
		return v.retry(r, retryOf(true)), true
	case ShootReconciling:
		m.reason, m.event = gardenseedmanagementv1alpha1.ShootReconcilingReason, gardenseedmanagementv1alpha1.EventWaitingForShootReconciled
	case ShootDeleting:
		m.reason, m.event = gardenseedmanagementv1alpha1.ShootDeletingReason, gardenseedmanagementv1alpha1.EventWaitingForShootDeleted
	case ShootReconciled:
		m.step = CreateManagedSeed
		m.reason, m.event = gardenseedmanagementv1alpha1.ManagedSeedPreparingReason, gardenseedmanagementv1alpha1.EventCreatingManagedSeed
	case ManagedSeedPreparing:
		m.reason, m.event = gardenseedmanagementv1alpha1.ManagedSeedPreparingReason, gardenseedmanagementv1alpha1.EventWaitingForManagedSeedRegistered
	case ManagedSeedDeleting:
		m.reason, m.event = gardenseedmanagementv1alpha1.ManagedSeedDeletingReason, gardenseedmanagementv1alpha1.EventWaitingForManagedSeedDeleted
	case ManagedSeedRegistered:
		if !r.SeedReady() {
			m.reason, m.event = gardenseedmanagementv1alpha1.SeedNotReadyReason, gardenseedmanagementv1alpha1.EventWaitingForSeedReady
		} else {
			m.reason, m.event = gardenseedmanagementv1alpha1.ShootNotHealthyReason, gardenseedmanagementv1alpha1.EventWaitingForShootHealthy
		}
		return m, !r.Ready()
	default:
		return move{}, false
	}
	return m, true
}

// idle reports whether nothing ends by itself for the replica: neither a deletion nor the reconciliation of a shoot that has a
// seed.
func idle(r *Replica) bool {
	if r.State() == ShootReconciling {
		return r.Shoot.Spec.SeedName == nil
	}
	return !leaving(r)
}

// leaving reports whether the deletion of the replica has begun.
func leaving(r *Replica) bool {
	switch r.State() {
	case ShootDeleteFailed, ShootDeleting, ManagedSeedDeleting:
		return true
	default:
		return false
	}
}

func (v View) isPending(name string) bool {
	was := v.Set.Status.PendingReplica
	return was != nil && was.Name == name
}

// retry retries the failed operation of a shoot, but not for ever.
func (v View) retry(r *Replica, way retryWay) move {
	var done int32
	if was := v.Set.Status.PendingReplica; was != nil && was.Name == r.Name && retries(was.Reason) && deletes(was.Reason) == deletes(way.failed) {
		done = ptr.Deref(was.Retries, 0)
	}
	if int(done) >= v.MaxRetries {
		return move{replica: r.Name, reason: way.failed, event: way.givenUp}
	}
	return move{replica: r.Name, step: RetryShoot, reason: way.going, event: way.retried, retry: true}
}

// retryWay names what is told about the retries of an operation.
type retryWay struct {
	failed, going    reason
	retried, givenUp string
}

func retryOf(deletion bool) retryWay {
	if deletion {
		return retryWay{
			failed:  gardenseedmanagementv1alpha1.ShootDeleteFailedReason,
			going:   gardenseedmanagementv1alpha1.ShootDeletingReason,
			retried: gardenseedmanagementv1alpha1.EventRetryingShootDeletion,
			givenUp: gardenseedmanagementv1alpha1.EventNotRetryingShootDeletion,
		}
	}
	return retryWay{
		failed:  gardenseedmanagementv1alpha1.ShootReconcileFailedReason,
		going:   gardenseedmanagementv1alpha1.ShootReconcilingReason,
		retried: gardenseedmanagementv1alpha1.EventRetryingShootReconciliation,
		givenUp: gardenseedmanagementv1alpha1.EventNotRetryingShootReconciliation,
	}
}
