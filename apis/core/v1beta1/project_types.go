// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Project has its documentation written later.
type Project struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec ProjectSpec `json:"spec,omitempty"`
	// +optional
	Status ProjectStatus `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ProjectList has its documentation written later.
type ProjectList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Project `json:"items"`
}

// ProjectSpec has its documentation written later.
type ProjectSpec struct {
	// +optional
	CreatedBy *rbacv1.Subject `json:"createdBy,omitempty"`
	// +optional
	Description *string `json:"description,omitempty"`
	// +optional
	DualApprovalForDeletion []DualApprovalForDeletion `json:"dualApprovalForDeletion,omitempty"`
	// +optional
	Members []ProjectMember `json:"members,omitempty"`
	// +optional
	Namespace *string `json:"namespace,omitempty"`
	// +optional
	Owner *rbacv1.Subject `json:"owner,omitempty"`
	// +optional
	Purpose *string `json:"purpose,omitempty"`
	// +optional
	Tolerations *ProjectTolerations `json:"tolerations,omitempty"`
}

// ProjectStatus has its documentation written later.
type ProjectStatus struct {
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
	// +optional
	LastActivityTimestamp *metav1.Time `json:"lastActivityTimestamp,omitempty"`
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	Phase ProjectPhase `json:"phase,omitempty"`
	// +optional
	StaleAutoDeleteTimestamp *metav1.Time `json:"staleAutoDeleteTimestamp,omitempty"`
	// +optional
	StaleSinceTimestamp *metav1.Time `json:"staleSinceTimestamp,omitempty"`
}

// ProjectPhase has its documentation written later.
type ProjectPhase string

const (
	// ProjectPhasePending stands for Pending.
	ProjectPhasePending ProjectPhase = "Pending"
	// ProjectPhaseReady stands for Ready.
	ProjectPhaseReady ProjectPhase = "Ready"
	// ProjectPhaseFailed stands for Failed.
	ProjectPhaseFailed ProjectPhase = "Failed"
	// ProjectPhaseTerminating stands for Terminating.
	ProjectPhaseTerminating ProjectPhase = "Terminating"
)

// ProjectMember has its documentation written later.
type ProjectMember struct {
	rbacv1.Subject `json:",inline"`
	Role           string `json:"role"`
	// +optional
	Roles []string `json:"roles,omitempty"`
}

// ProjectTolerations has its documentation written later.
type ProjectTolerations struct {
	// +patchStrategy=merge
	// +patchMergeKey=key
	// +optional
	Defaults []Toleration `json:"defaults,omitempty" patchStrategy:"merge" patchMergeKey:"key"`
	// +patchStrategy=merge
	// +patchMergeKey=key
	// +optional
	Whitelist []Toleration `json:"whitelist,omitempty" patchStrategy:"merge" patchMergeKey:"key"`
}

// DualApprovalForDeletion has its documentation written later.
type DualApprovalForDeletion struct {
	Resource string               `json:"resource"`
	Selector metav1.LabelSelector `json:"selector"`
	// +optional
	IncludeServiceAccounts *bool `json:"includeServiceAccounts,omitempty"`
}
