// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ShootStatus has its documentation written later.
type ShootStatus struct {
	Gardener    Gardener  `json:"gardener"`
	Hibernated  bool      `json:"hibernated"`
	TechnicalID string    `json:"technicalID"`
	UID         types.UID `json:"uid"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	AdvertisedAddresses []ShootAdvertisedAddress `json:"advertisedAddresses,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// +optional
	ClusterIdentity *string `json:"clusterIdentity,omitempty"`
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Constraints []Condition `json:"constraints,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	// +optional
	Credentials *ShootCredentials `json:"credentials,omitempty"`
	// +optional
	InPlaceUpdates *InPlaceUpdatesStatus `json:"inPlaceUpdates,omitempty"`
	// +optional
	LastErrors []LastError `json:"lastErrors,omitempty"`
	// +optional
	LastHibernationTriggerTime *metav1.Time `json:"lastHibernationTriggerTime,omitempty"`
	// +optional
	LastMaintenance *LastMaintenance `json:"lastMaintenance,omitempty"`
	// +optional
	LastOperation *LastOperation `json:"lastOperation,omitempty"`
	// +optional
	LiveMigration *LiveMigration `json:"liveMigration,omitempty"`
	// +optional
	ManualWorkerPoolRollout *ManualWorkerPoolRollout `json:"manualWorkerPoolRollout,omitempty"`
	// +optional
	MigrationStartTime *metav1.Time `json:"migrationStartTime,omitempty"`
	// +optional
	Networking *NetworkingStatus `json:"networking,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	RetryCycleStartTime *metav1.Time `json:"retryCycleStartTime,omitempty"`
	// +optional
	SeedName *string `json:"seedName,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.138.
	// +optional
	EncryptedResources []string `json:"encryptedResources,omitempty"`
}

// ShootAdvertisedAddress has its documentation written later.
type ShootAdvertisedAddress struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	// +optional
	Application *string `json:"application,omitempty"`
}

// InPlaceUpdatesStatus has its documentation written later.
type InPlaceUpdatesStatus struct {
	// +optional
	PendingWorkerUpdates *PendingWorkerUpdates `json:"pendingWorkerUpdates,omitempty"`
}

// PendingWorkerUpdates has its documentation written later.
type PendingWorkerUpdates struct {
	// +optional
	AutoInPlaceUpdate []string `json:"autoInPlaceUpdate,omitempty"`
	// +optional
	ManualInPlaceUpdate []string `json:"manualInPlaceUpdate,omitempty"`
}

// LastMaintenance has its documentation written later.
type LastMaintenance struct {
	Description   string             `json:"description"`
	State         LastOperationState `json:"state"`
	TriggeredTime metav1.Time        `json:"triggeredTime"`
	// +optional
	FailureReason *string `json:"failureReason,omitempty"`
}

// LiveMigration has its documentation written later.
type LiveMigration struct {
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// ManualWorkerPoolRollout has its documentation written later.
type ManualWorkerPoolRollout struct {
	// +optional
	PendingWorkersRollouts []PendingWorkersRollout `json:"pendingWorkersRollouts,omitempty"`
}

// NetworkingStatus has its documentation written later.
type NetworkingStatus struct {
	// +optional
	EgressCIDRs []string `json:"egressCIDRs,omitempty"`
	// +optional
	Nodes []string `json:"nodes,omitempty"`
	// +optional
	Pods []string `json:"pods,omitempty"`
	// +optional
	Services []string `json:"services,omitempty"`
}
