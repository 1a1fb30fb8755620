// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// MaxTimelineReportTasks is the largest number of tasks in a report.
	MaxTimelineReportTasks = 500
	// MaxTimelineAfter is the largest number of tasks that a task names as those before it. More are dropped.
	MaxTimelineAfter = 50
	// MaxTimelineID is the largest size of the id of such a task, in bytes. Longer ones are cut.
	MaxTimelineID = 128
	// MaxTimelineText is the largest size of a text in a task, in bytes. Longer texts are cut.
	MaxTimelineText = 2048
)

// +genclient
// +genclient:onlyVerbs=create
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// TimelineReport adds tasks to timelines. It can only be created, and is not kept. Gardenlets report the tasks of objects of
// their own seed.
type TimelineReport struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata. The server ignores it.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what is reported.
	Spec TimelineReportSpec `json:"spec"`
	// Status is what became of it.
	// +optional
	Status TimelineReportStatus `json:"status,omitempty"`
}

// TimelineReportSpec is what is reported.
type TimelineReportSpec struct {
	// Tasks are the tasks in the order in which they ended, at most 500.
	Tasks []ReportedTask `json:"tasks"`
}

// ReportedTask is a task of a flow that ended, and the object for which the flow ran.
type ReportedTask struct {
	// Time is when the task ended. A time in the future, or more than a day ago, becomes the time of the report.
	Time metav1.MicroTime `json:"time"`
	// Subject is the object for which the flow ran.
	Subject TimelineSubject `json:"subject"`
	// Task is what happened. Texts over 2 KiB are cut.
	Task TimelineTask `json:"task"`
}

// TimelineReportStatus is what became of a report.
type TimelineReportStatus struct {
	// Accepted is the number of tasks that are in the timelines now.
	Accepted int32 `json:"accepted"`
	// Refused is the number of tasks whose subject does not exist or does not belong to the seed of the client.
	// +optional
	Refused int32 `json:"refused,omitempty"`
}
