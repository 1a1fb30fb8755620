// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Project is a namespace in the garden for a team, with its members.
type Project struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec describes the members and the namespace of the project.
	// +optional
	Spec ProjectSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// Status reports whether the project can be used.
	// +optional
	Status ProjectStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ProjectList is a list of projects.
type ProjectList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the projects.
	Items []Project `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ProjectSpec describes the members and the namespace of a project.
type ProjectSpec struct {
	// CreatedBy is the user who created the project; set by the server and never changed.
	// +optional
	CreatedBy *rbacv1.Subject `json:"createdBy,omitempty" protobuf:"bytes,1,opt,name=createdBy"`
	// Description is a human-readable description of the project.
	// +optional
	Description *string `json:"description,omitempty" protobuf:"bytes,2,opt,name=description"`
	// DualApprovalForDeletion lists the resources whose deletion a second user must confirm.
	// +optional
	DualApprovalForDeletion []DualApprovalForDeletion `json:"dualApprovalForDeletion,omitempty" protobuf:"bytes,8,rep,name=dualApprovalForDeletion"`
	// Members are the users, groups and service accounts with rights in the project.
	// +optional
	Members []ProjectMember `json:"members,omitempty" protobuf:"bytes,5,rep,name=members"`
	// Namespace is the namespace of the project; one is created when unset. It never changes once set.
	// +optional
	Namespace *string `json:"namespace,omitempty" protobuf:"bytes,6,opt,name=namespace"`
	// Owner is the user responsible for the project; the creator when unset.
	// +optional
	Owner *rbacv1.Subject `json:"owner,omitempty" protobuf:"bytes,3,opt,name=owner"`
	// Purpose is a human-readable purpose of the project.
	// +optional
	Purpose *string `json:"purpose,omitempty" protobuf:"bytes,4,opt,name=purpose"`
	// Tolerations says which taints of seeds the project's shoots may tolerate.
	// +optional
	Tolerations *ProjectTolerations `json:"tolerations,omitempty" protobuf:"bytes,7,opt,name=tolerations"`
}

// ProjectStatus reports whether a project can be used.
type ProjectStatus struct {
	// Conditions report the health of the project.
	// +patchStrategy=merge
	// +patchMergeKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty" protobuf:"bytes,6,rep,name=conditions" patchStrategy:"merge" patchMergeKey:"type"`
	// LastActivityTimestamp is when the project was last used.
	// +optional
	LastActivityTimestamp *metav1.Time `json:"lastActivityTimestamp,omitempty" protobuf:"bytes,5,opt,name=lastActivityTimestamp"`
	// ObservedGeneration is the newest generation that the controller has acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty" protobuf:"varint,1,opt,name=observedGeneration"`
	// Phase is the stage in the project's life.
	// +optional
	Phase ProjectPhase `json:"phase,omitempty" protobuf:"bytes,2,opt,name=phase"`
	// StaleAutoDeleteTimestamp is when the project will be deleted because it is unused.
	// +optional
	StaleAutoDeleteTimestamp *metav1.Time `json:"staleAutoDeleteTimestamp,omitempty" protobuf:"bytes,4,opt,name=staleAutoDeleteTimestamp"`
	// StaleSinceTimestamp is since when the project has been unused.
	// +optional
	StaleSinceTimestamp *metav1.Time `json:"staleSinceTimestamp,omitempty" protobuf:"bytes,3,opt,name=staleSinceTimestamp"`
}

// ProjectPhase is a stage in the life of a project.
type ProjectPhase string

const (
	// ProjectPhasePending means that its namespace is being created.
	ProjectPhasePending ProjectPhase = "Pending"
	// ProjectPhaseReady means that it can be used.
	ProjectPhaseReady ProjectPhase = "Ready"
	// ProjectPhaseFailed means that its namespace could not be created.
	ProjectPhaseFailed ProjectPhase = "Failed"
	// ProjectPhaseTerminating means that it is being deleted.
	ProjectPhaseTerminating ProjectPhase = "Terminating"
)

// ProjectMember is a user, group or service account with rights in a project.
type ProjectMember struct {
	rbacv1.Subject `json:",inline" protobuf:"bytes,1,opt,name=subject"`

	// Role is the first role of the member; superseded by roles.
	Role string `json:"role" protobuf:"bytes,2,opt,name=role"`
	// Roles are further roles: admin, viewer, uam, serviceaccountmanager, or a custom one as extension:<name>.
	// +optional
	Roles []string `json:"roles,omitempty" protobuf:"bytes,3,rep,name=roles"`
}

// ProjectTolerations says which taints of seeds the shoots of a project may tolerate.
type ProjectTolerations struct {
	// Defaults are added to every shoot of the project.
	// +patchStrategy=merge
	// +patchMergeKey=key
	// +optional
	Defaults []Toleration `json:"defaults,omitempty" protobuf:"bytes,1,rep,name=defaults" patchStrategy:"merge" patchMergeKey:"key"`
	// Whitelist are the tolerations that shoots may use.
	// +patchStrategy=merge
	// +patchMergeKey=key
	// +optional
	Whitelist []Toleration `json:"whitelist,omitempty" protobuf:"bytes,2,rep,name=whitelist" patchStrategy:"merge" patchMergeKey:"key"`
}

// DualApprovalForDeletion names objects whose deletion must be confirmed by another user than the one who deletes them.
type DualApprovalForDeletion struct {
	// Resource is the plural name of the resource with its group, for instance shoots.
	Resource string `json:"resource" protobuf:"bytes,1,opt,name=resource"`
	// Selector selects the objects.
	Selector metav1.LabelSelector `json:"selector" protobuf:"bytes,2,opt,name=selector"`
	// IncludeServiceAccounts says whether the rule applies to service accounts as well. Defaults to true.
	// +optional
	IncludeServiceAccounts *bool `json:"includeServiceAccounts,omitempty" protobuf:"varint,3,opt,name=includeServiceAccounts"`
}
