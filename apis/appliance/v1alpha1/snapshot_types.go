// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +genclient
// +genclient:nonNamespaced
// +genclient:onlyVerbs=create,get,list,delete
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Snapshot is a snapshot of the garden in the destination of the server. To create one takes a snapshot, whose name the server
// chooses; it is complete when the request is answered.
type Snapshot struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata. The server ignores it in new snapshots.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Status describes the snapshot.
	// +optional
	Status SnapshotStatus `json:"status,omitempty"`
}

// SnapshotStatus describes a snapshot.
type SnapshotStatus struct {
	// Time is when the state was read: all writes that were answered before are in it.
	Time metav1.Time `json:"time"`
	// Bytes is the size of the file.
	Bytes int64 `json:"bytes"`
	// Destination is where the file is.
	Destination string `json:"destination"`
	// Revision is the resource version of the state of all objects but Events.
	Revision int64 `json:"revision"`
	// EventsRevision is that of the state of Events.
	EventsRevision int64 `json:"eventsRevision"`
	// Objects and Events are the numbers of objects. They are in the answer for one snapshot, not in lists.
	// +optional
	Objects int64 `json:"objects,omitempty"`
	// Events is the number of Events.
	// +optional
	Events int64 `json:"events,omitempty"`
	// Version is the version of the server that took the snapshot. It is not in lists.
	// +optional
	Version string `json:"version,omitempty"`
	// ClusterIdentity is that of the garden. It is not in lists.
	// +optional
	ClusterIdentity string `json:"clusterIdentity,omitempty"`
	// Increments is what goes on from this snapshot, up to the next one. It is missing if there are none.
	// +optional
	Increments *SnapshotIncrements `json:"increments,omitempty"`
	// Verification is the last verification since the server has started. A request to the subresource verification begins one.
	// +optional
	Verification *SnapshotVerification `json:"verification,omitempty"`
}

// SnapshotIncrements describes the increments that go on from a snapshot. Each moment up to the last of them can be restored.
type SnapshotIncrements struct {
	// Count is the number of files.
	Count int32 `json:"count"`
	// Bytes is their size.
	Bytes int64 `json:"bytes"`
	// Until is when the last of them was saved.
	// +optional
	Until metav1.Time `json:"until,omitempty"`
	// Gap says that there are later increments that do not go on from the last one: some in between are missing.
	// +optional
	Gap bool `json:"gap,omitempty"`
}

// SnapshotVerificationState is how far a verification is.
type SnapshotVerificationState string

const (
	// SnapshotVerificationRunning says that the files are being read.
	SnapshotVerificationRunning SnapshotVerificationState = "Running"
	// SnapshotVerificationSucceeded says that all is well.
	SnapshotVerificationSucceeded SnapshotVerificationState = "Succeeded"
	// SnapshotVerificationFailed says that the snapshot cannot be restored, or could not be read.
	SnapshotVerificationFailed SnapshotVerificationState = "Failed"
)

// SnapshotVerification says what became of reading a snapshot and its increments to their end.
type SnapshotVerification struct {
	// State is how far it is.
	State SnapshotVerificationState `json:"state"`
	// StartTime is when it began.
	StartTime metav1.Time `json:"startTime"`
	// CompletionTime is when it ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
	// Files is the number of files that were found to be well: the snapshot and its increments.
	// +optional
	Files int32 `json:"files,omitempty"`
	// ChecksumsOnly says that the server has no key to read the files, so that only their checksums were compared.
	// +optional
	ChecksumsOnly bool `json:"checksumsOnly,omitempty"`
	// Message says what is wrong.
	// +optional
	Message string `json:"message,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SnapshotList is a list of snapshots, the newest first.
type SnapshotList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list metadata.
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the snapshots.
	Items []Snapshot `json:"items"`
}
