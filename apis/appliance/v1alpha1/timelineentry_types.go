// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Field selectors of timelines, beside those for name and namespace.
const (
	// FieldSubjectKind selects entries by the kind of their subject, such as Shoot.
	FieldSubjectKind = "subject.kind"
	// FieldSubjectName selects entries by the name of their subject.
	FieldSubjectName = "subject.name"
	// FieldType selects entries by their type.
	FieldType = "type"
	// FieldSince selects entries that are not older than a time in RFC 3339 form.
	FieldSince = "since"
	// FieldUntil selects entries that are older than a time in RFC 3339 form.
	FieldUntil = "until"
)

// ClusterRoleTimelines is the role, and the binding, by which all authenticated users ask for timelines.
const ClusterRoleTimelines = GroupName + ":timelines"

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TimelineEntry is one thing that happened to an object of the garden. Entries are in the namespace of their subject; those of
// objects without a namespace are in the namespace garden. Their names are numbers that grow with time. Entries never change,
// and the oldest ones are removed when they are too old or when there are too many. Removals are not reported to watches.
type TimelineEntry struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Time is when it happened.
	Time metav1.MicroTime `json:"time"`
	// Subject is the object to which it happened.
	Subject TimelineSubject `json:"subject"`
	// Type says which of the other fields is set.
	Type TimelineEntryType `json:"type"`
	// User is who made the change.
	// +optional
	User string `json:"user,omitempty"`
	// RequestedBy is who last asked for something that the operation does. It is set for entries of type Operation.
	// +optional
	RequestedBy string `json:"requestedBy,omitempty"`

	// Request is what a user asked for.
	// +optional
	Request *TimelineRequest `json:"request,omitempty"`
	// Operation is the last operation of the object after a change.
	// +optional
	Operation *TimelineOperation `json:"operation,omitempty"`
	// Condition is a condition or constraint of the object after a change.
	// +optional
	Condition *TimelineCondition `json:"condition,omitempty"`
	// LastErrors are all errors of the object after a change.
	// +optional
	LastErrors []gardencorev1beta1.LastError `json:"lastErrors,omitempty"`
	// Task is a task of a flow that ended.
	// +optional
	Task *TimelineTask `json:"task,omitempty"`
}

// TimelineEntryType is the type of an entry.
type TimelineEntryType string

const (
	// TimelineEntryRequest says that a user created the object, changed its specification, asked for an operation or for its
	// deletion.
	TimelineEntryRequest TimelineEntryType = "Request"
	// TimelineEntryOperation says that the type or state of the last operation changed, or the description of one that is not in
	// progress.
	TimelineEntryOperation TimelineEntryType = "Operation"
	// TimelineEntryCondition says that the status or reason of a condition or constraint changed, or that it was removed.
	TimelineEntryCondition TimelineEntryType = "Condition"
	// TimelineEntryErrors says that the list of last errors changed. An empty list means that the errors are gone.
	TimelineEntryErrors TimelineEntryType = "Errors"
	// TimelineEntryTask says that a task of a flow ended.
	TimelineEntryTask TimelineEntryType = "Task"
	// TimelineEntryRemoved says that the object was removed.
	TimelineEntryRemoved TimelineEntryType = "Removed"
)

// TimelineSubject is the object of an entry.
type TimelineSubject struct {
	// Kind is Shoot, Seed, BackupEntry or ManagedSeed.
	Kind string `json:"kind"`
	// Namespace is empty for a Seed.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Name is the name of the object.
	Name string `json:"name"`
	// UID tells objects of the same name apart.
	// +optional
	UID types.UID `json:"uid,omitempty"`
}

// TimelineVerb is what a user asked for.
type TimelineVerb string

const (
	// TimelineCreate is the creation of the object.
	TimelineCreate TimelineVerb = "Create"
	// TimelineUpdate is a change of the specification, or an operation that was asked for.
	TimelineUpdate TimelineVerb = "Update"
	// TimelineDelete is the deletion of the object.
	TimelineDelete TimelineVerb = "Delete"
)

// TimelineRequest is what a user asked for.
type TimelineRequest struct {
	// Verb is what to do with the object.
	Verb TimelineVerb `json:"verb"`
	// Fields are the paths of the changed fields of the specification, two levels deep.
	// +optional
	Fields []string `json:"fields,omitempty"`
	// Generation is that of the object after the change.
	// +optional
	Generation int64 `json:"generation,omitempty"`
}

// TimelineOperation is the last operation of an object after a change.
type TimelineOperation struct {
	// Type is the type of the operation.
	Type gardencorev1beta1.LastOperationType `json:"type"`
	// State is its state.
	State gardencorev1beta1.LastOperationState `json:"state"`
	// From is the state before, if the operation had one.
	// +optional
	From gardencorev1beta1.LastOperationState `json:"from,omitempty"`
	// Progress is its progress in percent.
	Progress int32 `json:"progress"`
	// Description explains the state.
	// +optional
	Description string `json:"description,omitempty"`
}

// TimelineCondition is a condition or constraint after a change.
type TimelineCondition struct {
	// Type is the type of the condition.
	Type gardencorev1beta1.ConditionType `json:"type"`
	// Status is its status. It is empty if the condition was removed.
	Status gardencorev1beta1.ConditionStatus `json:"status"`
	// From is the status before, if there was the condition before.
	// +optional
	From gardencorev1beta1.ConditionStatus `json:"from,omitempty"`
	// Reason is the reason of the status, in one word.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message explains the status.
	// +optional
	Message string `json:"message,omitempty"`
}

// TimelineTask is a task of a flow that ended.
type TimelineTask struct {
	// Flow is the name of the flow.
	Flow string `json:"flow"`
	// ID is the name of the task within the flow.
	ID string `json:"id"`
	// Title says in plain words what the task does.
	// +optional
	Title string `json:"title,omitempty"`
	// After are the ids of the tasks that had to be done before.
	// +optional
	After []string `json:"after,omitempty"`
	// Waiting is how long the task waited for a free place after the tasks before it were done.
	// +optional
	Waiting metav1.Duration `json:"waiting,omitempty"`
	// Duration is how long the task took.
	Duration metav1.Duration `json:"duration"`
	// Error is why the task failed. It is empty for a task that succeeded.
	// +optional
	Error string `json:"error,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TimelineEntryList is a list of entries, the oldest first.
type TimelineEntryList struct {
	metav1.TypeMeta `json:",inline"`
	// Standard list object metadata.
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the entries.
	Items []TimelineEntry `json:"items"`
}
