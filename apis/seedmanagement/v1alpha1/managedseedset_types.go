// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ManagedSeedSet keeps a number of like managed seeds, each on a shoot of its own.
type ManagedSeedSet struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says how many managed seeds there should be, and what they are like.
	// +optional
	Spec ManagedSeedSetSpec `json:"spec,omitempty"`
	// Status tells how many there are.
	// +optional
	Status ManagedSeedSetStatus `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ManagedSeedSetList is a list of sets.
type ManagedSeedSetList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the sets.
	Items []ManagedSeedSet `json:"items"`
}

// ManagedSeedSetSpec says how many managed seeds there should be, and what they are like.
type ManagedSeedSetSpec struct {
	// Replicas is how many managed seeds there should be.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// Selector picks the shoots and managed seeds that belong to the set. It must match both templates and never changes.
	Selector metav1.LabelSelector `json:"selector"`
	// Template is what managed seeds are made from.
	Template ManagedSeedTemplate `json:"template"`
	// ShootTemplate is what shoots are made from.
	ShootTemplate gardencorev1beta1.ShootTemplate `json:"shootTemplate"`
	// UpdateStrategy says how changes of the templates reach what exists.
	// +optional
	UpdateStrategy *UpdateStrategy `json:"updateStrategy,omitempty"`
	// RevisionHistoryLimit is how many former templates are kept.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
}

// UpdateStrategy says how changes of the templates reach what exists.
type UpdateStrategy struct {
	// Type is the sort of update.
	// +optional
	Type *UpdateStrategyType `json:"type,omitempty"`
	// RollingUpdate is for the type RollingUpdate.
	// +optional
	RollingUpdate *RollingUpdateStrategy `json:"rollingUpdate,omitempty"`
}

// UpdateStrategyType is a sort of update.
type UpdateStrategyType string

// RollingUpdateStrategyType updates one replica after the other.
const RollingUpdateStrategyType UpdateStrategyType = "RollingUpdate"

// RollingUpdateStrategy says which replicas are updated one after the other.
type RollingUpdateStrategy struct {
	// Partition is the ordinal from which on replicas are updated.
	// +optional
	Partition *int32 `json:"partition,omitempty"`
}

// ManagedSeedSetStatus tells how many managed seeds there are.
type ManagedSeedSetStatus struct {
	// ObservedGeneration is the generation that was last acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Replicas is how many replicas there are; a replica is a shoot with its managed seed.
	Replicas int32 `json:"replicas"`
	// ReadyReplicas is how many of them are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// NextReplicaNumber is the ordinal of the next replica.
	// +optional
	NextReplicaNumber int32 `json:"nextReplicaNumber,omitempty"`
	// CurrentReplicas is how many replicas are of the current revision.
	// +optional
	CurrentReplicas int32 `json:"currentReplicas,omitempty"`
	// UpdatedReplicas is how many replicas are of the revision that is being rolled out.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`
	// CurrentRevision is the revision of the replicas below the partition.
	// +optional
	CurrentRevision string `json:"currentRevision,omitempty"`
	// UpdateRevision is the revision of the replicas from the partition on.
	// +optional
	UpdateRevision string `json:"updateRevision,omitempty"`
	// CollisionCount tells names of revisions apart that would be the same.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty"`
	// Conditions tell how the set is.
	// +optional
	// +patchMergeKey=type
	// +patchStrategy=merge
	Conditions []gardencorev1beta1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	// PendingReplica is the replica that is being made, changed or taken away.
	// +optional
	PendingReplica *PendingReplica `json:"pendingReplica,omitempty"`
}

// PendingReplica is a replica that is being made, changed or taken away.
type PendingReplica struct {
	// Name is the name of the replica.
	Name string `json:"name"`
	// Reason is what is waited for.
	Reason PendingReplicaReason `json:"reason"`
	// Since is the moment from which on it is waited for.
	Since metav1.Time `json:"since"`
	// Retries is how often it was tried again.
	// +optional
	Retries *int32 `json:"retries,omitempty"`
}

// PendingReplicaReason is what is waited for before a replica is ready.
type PendingReplicaReason string

const (
	// ShootReconcilingReason means that the shoot is being created or changed.
	ShootReconcilingReason PendingReplicaReason = "ShootReconciling"
	// ShootDeletingReason means that the shoot is being deleted.
	ShootDeletingReason PendingReplicaReason = "ShootDeleting"
	// ShootReconcileFailedReason means that creating or changing the shoot failed.
	ShootReconcileFailedReason PendingReplicaReason = "ShootReconcileFailed"
	// ShootDeleteFailedReason means that deleting the shoot failed.
	ShootDeleteFailedReason PendingReplicaReason = "ShootDeleteFailed"
	// ManagedSeedPreparingReason means that the seed is not registered yet.
	ManagedSeedPreparingReason PendingReplicaReason = "ManagedSeedPreparing"
	// ManagedSeedDeletingReason means that the managed seed is being deleted.
	ManagedSeedDeletingReason PendingReplicaReason = "ManagedSeedDeleting"
	// SeedNotReadyReason means that the seed is registered and not ready.
	SeedNotReadyReason PendingReplicaReason = "SeedNotReady"
	// ShootNotHealthyReason means that the shoot is not healthy.
	ShootNotHealthyReason PendingReplicaReason = "ShootNotHealthy"
)
