// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ShootStatus is the observed state of a shoot.
type ShootStatus struct {
	// Gardener identifies the gardenlet that last acted on the shoot.
	Gardener Gardener `json:"gardener" protobuf:"bytes,3,opt,name=gardener"`
	// Hibernated says whether the shoot is hibernated.
	Hibernated bool `json:"hibernated" protobuf:"varint,4,opt,name=hibernated"`
	// TechnicalID is the name of the shoot in its seed, which is the name of its namespace there; it never changes.
	TechnicalID string `json:"technicalID" protobuf:"bytes,10,opt,name=technicalID"`
	// UID identifies the shoot permanently, also across moves and restores.
	UID types.UID `json:"uid" protobuf:"bytes,11,opt,name=uid"`
	// AdvertisedAddresses are the addresses under which the API server and other endpoints are reached.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	AdvertisedAddresses []ShootAdvertisedAddress `json:"advertisedAddresses,omitempty" protobuf:"bytes,13,rep,name=advertisedAddresses" patchStrategy:"merge" patchMergeKey:"name"`
	// ClusterIdentity identifies the shoot among all clusters.
	// +optional
	ClusterIdentity *string `json:"clusterIdentity,omitempty" protobuf:"bytes,12,opt,name=clusterIdentity"`
	// Conditions report the health of the shoot.
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" protobuf:"bytes,1,rep,name=conditions" patchStrategy:"merge" patchMergeKey:"type"`
	// Constraints report whether certain operations are possible.
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Constraints []Condition `json:"constraints,omitempty" protobuf:"bytes,2,rep,name=constraints" patchStrategy:"merge" patchMergeKey:"type"`
	// Credentials describes the credentials of the shoot.
	// +optional
	Credentials *ShootCredentials `json:"credentials,omitempty" protobuf:"bytes,15,opt,name=credentials"`
	// InPlaceUpdates reports which pools are still to be updated in place.
	// +optional
	InPlaceUpdates *InPlaceUpdatesStatus `json:"inPlaceUpdates,omitempty" protobuf:"bytes,20,opt,name=inPlaceUpdates"`
	// LastErrors are the errors of the last operation.
	// +optional
	LastErrors []LastError `json:"lastErrors,omitempty" protobuf:"bytes,6,rep,name=lastErrors"`
	// LastHibernationTriggerTime is when a schedule last hibernated the shoot or woke it up.
	// +optional
	LastHibernationTriggerTime *metav1.Time `json:"lastHibernationTriggerTime,omitempty" protobuf:"bytes,16,opt,name=lastHibernationTriggerTime"`
	// LastMaintenance describes the last maintenance.
	// +optional
	LastMaintenance *LastMaintenance `json:"lastMaintenance,omitempty" protobuf:"bytes,17,opt,name=lastMaintenance"`
	// LastOperation describes the last operation on the shoot.
	// +optional
	LastOperation *LastOperation `json:"lastOperation,omitempty" protobuf:"bytes,5,opt,name=lastOperation"`
	// LiveMigration describes the steps of a live migration.
	// +optional
	LiveMigration *LiveMigration `json:"liveMigration,omitempty" protobuf:"bytes,22,opt,name=liveMigration"`
	// ManualWorkerPoolRollout describes pools whose machines the user wants replaced.
	// +optional
	ManualWorkerPoolRollout *ManualWorkerPoolRollout `json:"manualWorkerPoolRollout,omitempty" protobuf:"bytes,21,opt,name=manualWorkerPoolRollout"`
	// MigrationStartTime is when the move to another seed began.
	// +optional
	MigrationStartTime *metav1.Time `json:"migrationStartTime,omitempty" protobuf:"bytes,14,opt,name=migrationStartTime"`
	// Networking holds the address ranges that are in use.
	// +optional
	Networking *NetworkingStatus `json:"networking,omitempty" protobuf:"bytes,19,opt,name=networking"`
	// ObservedGeneration is the newest generation that the gardenlet has acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,7,opt,name=observedGeneration"`
	// RetryCycleStartTime is since when a failing operation has been retried.
	// +optional
	RetryCycleStartTime *metav1.Time `json:"retryCycleStartTime,omitempty" protobuf:"bytes,8,opt,name=retryCycleStartTime"`
	// SeedName is the seed that runs the control plane now; it differs from the spec during a move.
	// +optional
	SeedName *string `json:"seedName,omitempty" protobuf:"bytes,9,opt,name=seedName"`
	// EncryptedResources listed the encrypted resources; now part of credentials. Ignored; last used by Gardener
	// v1.138.
	// +optional
	EncryptedResources []string `json:"encryptedResources,omitempty" protobuf:"bytes,1001,rep,name=encryptedResources"`
}

// ShootAdvertisedAddress is the address of an endpoint of a shoot.
type ShootAdvertisedAddress struct {
	// Name says which address it is, for instance external, internal or unmanaged.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// URL is the address.
	URL string `json:"url" protobuf:"bytes,2,opt,name=url"`
	// Application names the endpoint if it is not the API server.
	// +optional
	Application *string `json:"application,omitempty" protobuf:"bytes,3,opt,name=application"`
}

// InPlaceUpdatesStatus reports which pools are still to be updated in place.
type InPlaceUpdatesStatus struct {
	// PendingWorkerUpdates lists the pools.
	// +optional
	PendingWorkerUpdates *PendingWorkerUpdates `json:"pendingWorkerUpdates,omitempty" protobuf:"bytes,1,opt,name=pendingWorkerUpdates"`
}

// PendingWorkerUpdates lists pools that are still to be updated in place.
type PendingWorkerUpdates struct {
	// AutoInPlaceUpdate are those that are updated automatically.
	// +optional
	AutoInPlaceUpdate []string `json:"autoInPlaceUpdate,omitempty" protobuf:"bytes,1,rep,name=autoInPlaceUpdate"`
	// ManualInPlaceUpdate are those that wait for the user.
	// +optional
	ManualInPlaceUpdate []string `json:"manualInPlaceUpdate,omitempty" protobuf:"bytes,2,rep,name=manualInPlaceUpdate"`
}

// LastMaintenance describes the last maintenance of a shoot.
type LastMaintenance struct {
	// Description describes what was changed.
	Description string `json:"description" protobuf:"bytes,1,opt,name=description"`
	// State is its result.
	State LastOperationState `json:"state" protobuf:"bytes,3,opt,name=state"`
	// TriggeredTime is when it began.
	TriggeredTime metav1.Time `json:"triggeredTime" protobuf:"bytes,2,opt,name=triggeredTime"`
	// FailureReason is the reason why it failed.
	// +optional
	FailureReason *string `json:"failureReason,omitempty" protobuf:"bytes,4,opt,name=failureReason"`
}

// LiveMigration describes the steps of a live migration.
type LiveMigration struct {
	// Conditions are the steps, each True once it is done.
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" protobuf:"bytes,1,rep,name=conditions" patchStrategy:"merge" patchMergeKey:"type"`
}

// ManualWorkerPoolRollout describes pools whose machines the user wants replaced.
type ManualWorkerPoolRollout struct {
	// PendingWorkersRollouts are those whose machines are still to be replaced.
	// +optional
	PendingWorkersRollouts []PendingWorkersRollout `json:"pendingWorkersRollouts,omitempty" protobuf:"bytes,1,rep,name=pendingWorkersRollouts"`
}

// NetworkingStatus holds the address ranges that are in use, in CIDR notation.
type NetworkingStatus struct {
	// EgressCIDRs are the sources of traffic that leaves the shoot.
	// +optional
	EgressCIDRs []string `json:"egressCIDRs,omitempty" protobuf:"bytes,4,rep,name=egressCIDRs"`
	// Nodes are the ranges of node addresses.
	// +optional
	Nodes []string `json:"nodes,omitempty" protobuf:"bytes,2,rep,name=nodes"`
	// Pods are the ranges of pod addresses.
	// +optional
	Pods []string `json:"pods,omitempty" protobuf:"bytes,1,rep,name=pods"`
	// Services are the ranges of Service addresses.
	// +optional
	Services []string `json:"services,omitempty" protobuf:"bytes,3,rep,name=services"`
}
