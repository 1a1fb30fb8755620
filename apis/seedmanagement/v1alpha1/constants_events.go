// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// The reasons of the events of a ManagedSeedSet.
const (
	// EventCreatingShoot says that the shoot of a new replica is created.
	EventCreatingShoot = "CreatingShoot"
	// EventDeletingShoot says that the shoot of a replica is deleted.
	EventDeletingShoot = "DeletingShoot"
	// EventRetryingShootReconciliation says that a failed reconciliation of a shoot is started again.
	EventRetryingShootReconciliation = "RetryingShootReconciliation"
	// EventNotRetryingShootReconciliation says that a failed reconciliation of a shoot is not started again.
	EventNotRetryingShootReconciliation = "NotRetryingShootReconciliation"
	// EventRetryingShootDeletion says that a failed deletion of a shoot is started again.
	EventRetryingShootDeletion = "RetryingShootDeletion"
	// EventNotRetryingShootDeletion says that a failed deletion of a shoot is not started again.
	EventNotRetryingShootDeletion = "NotRetryingShootDeletion"
	// EventWaitingForShootReconciled says that a shoot is being reconciled.
	EventWaitingForShootReconciled = "WaitingForShootReconciled"
	// EventWaitingForShootDeleted says that a shoot is being deleted.
	EventWaitingForShootDeleted = "WaitingForShootDeleted"
	// EventWaitingForShootHealthy says that a shoot is not healthy.
	EventWaitingForShootHealthy = "WaitingForShootHealthy"
	// EventCreatingManagedSeed says that the ManagedSeed of a replica is created.
	EventCreatingManagedSeed = "CreatingManagedSeed"
	// EventDeletingManagedSeed says that the ManagedSeed of a replica is deleted.
	EventDeletingManagedSeed = "DeletingManagedSeed"
	// EventWaitingForManagedSeedRegistered says that the seed of a ManagedSeed is not registered yet.
	EventWaitingForManagedSeedRegistered = "WaitingForManagedSeedRegistered"
	// EventWaitingForManagedSeedDeleted says that a ManagedSeed is being deleted.
	EventWaitingForManagedSeedDeleted = "WaitingForManagedSeedDeleted"
	// EventWaitingForSeedReady says that a seed is not ready.
	EventWaitingForSeedReady = "WaitingForSeedReady"
)
