// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Shoot has its documentation written later.
type Shoot struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec ShootSpec `json:"spec,omitempty"`
	// +optional
	Status ShootStatus `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ShootList has its documentation written later.
type ShootList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Shoot `json:"items"`
}

// ShootSpec has its documentation written later.
type ShootSpec struct {
	Kubernetes Kubernetes `json:"kubernetes"`
	Provider   Provider   `json:"provider"`
	Region     string     `json:"region"`
	// +optional
	AccessRestrictions []AccessRestrictionWithOptions `json:"accessRestrictions,omitempty"`
	// +optional
	Addons *Addons `json:"addons,omitempty"`
	// +optional
	CloudProfile *CloudProfileReference `json:"cloudProfile,omitempty"`
	// +optional
	CloudProfileName *string `json:"cloudProfileName,omitempty"`
	// +optional
	ControlPlane *ControlPlane `json:"controlPlane,omitempty"`
	// +optional
	CredentialsBindingName *string `json:"credentialsBindingName,omitempty"`
	// +optional
	DNS *DNS `json:"dns,omitempty"`
	// +optional
	ExposureClassName *string `json:"exposureClassName,omitempty"`
	// +optional
	Extensions []Extension `json:"extensions,omitempty"`
	// +optional
	Hibernation *Hibernation `json:"hibernation,omitempty"`
	// +optional
	Maintenance *Maintenance `json:"maintenance,omitempty"`
	// +optional
	Monitoring *Monitoring `json:"monitoring,omitempty"`
	// +optional
	Networking *Networking `json:"networking,omitempty"`
	// +optional
	Purpose *ShootPurpose `json:"purpose,omitempty"`
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty"`
	// +optional
	SchedulerName *string `json:"schedulerName,omitempty"`
	// +optional
	SecretBindingName *string `json:"secretBindingName,omitempty"`
	// +optional
	SeedName *string `json:"seedName,omitempty"`
	// +optional
	SeedSelector *SeedSelector `json:"seedSelector,omitempty"`
	// +optional
	SystemComponents *SystemComponents `json:"systemComponents,omitempty"`
	// +patchStrategy=merge
	// +patchMergeKey=key
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty" patchStrategy:"merge" patchMergeKey:"key"`
}

// ShootPurpose has its documentation written later.
type ShootPurpose string

const (
	// ShootPurposeEvaluation stands for evaluation.
	ShootPurposeEvaluation ShootPurpose = "evaluation"
	// ShootPurposeTesting stands for testing.
	ShootPurposeTesting ShootPurpose = "testing"
	// ShootPurposeDevelopment stands for development.
	ShootPurposeDevelopment ShootPurpose = "development"
	// ShootPurposeProduction stands for production.
	ShootPurposeProduction ShootPurpose = "production"
	// ShootPurposeInfrastructure stands for infrastructure.
	ShootPurposeInfrastructure ShootPurpose = "infrastructure"
)

// CloudProfileReference has its documentation written later.
type CloudProfileReference struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
}
