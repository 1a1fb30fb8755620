// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Shoot is a Kubernetes cluster that the garden makes and looks after.
type Shoot struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the cluster as its owner wants it.
	// +optional
	Spec ShootSpec `json:"spec,omitempty"`
	// Status is the cluster as it is.
	// +optional
	Status ShootStatus `json:"status,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ShootList is a list of shoots.
type ShootList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the shoots.
	Items []Shoot `json:"items"`
}

// ShootSpec is a cluster as its owner wants it.
type ShootSpec struct {
	// Kubernetes holds the version and the settings of the components.
	Kubernetes Kubernetes `json:"kubernetes"`
	// Provider says where the cluster runs and on which machines.
	Provider Provider `json:"provider"`
	// Region is a region of the cloud profile. It never changes.
	Region string `json:"region"`
	// AccessRestrictions are the restrictions that seed and region must satisfy.
	// +optional
	AccessRestrictions []AccessRestrictionWithOptions `json:"accessRestrictions,omitempty"`
	// Addons are components for trials.
	// +optional
	Addons *Addons `json:"addons,omitempty"`
	// CloudProfile names the cloud profile, of the garden or of the project.
	// +optional
	CloudProfile *CloudProfileReference `json:"cloudProfile,omitempty"`
	// CloudProfileName names a cloud profile of the garden; superseded by cloudProfile.
	// +optional
	CloudProfileName *string `json:"cloudProfileName,omitempty"`
	// ControlPlane holds settings of the control plane.
	// +optional
	ControlPlane *ControlPlane `json:"controlPlane,omitempty"`
	// CredentialsBindingName names the credentials of the provider; excludes secretBindingName.
	// +optional
	CredentialsBindingName *string `json:"credentialsBindingName,omitempty"`
	// DNS says under which name the cluster is reached.
	// +optional
	DNS *DNS `json:"dns,omitempty"`
	// ExposureClassName names a way in which the API server is exposed. It never changes.
	// +optional
	ExposureClassName *string `json:"exposureClassName,omitempty"`
	// Extensions are further extensions for the cluster.
	// +optional
	Extensions []Extension `json:"extensions,omitempty"`
	// Hibernation says whether and when the cluster sleeps.
	// +optional
	Hibernation *Hibernation `json:"hibernation,omitempty"`
	// Maintenance says when the cluster may be changed on its own, and what is done then.
	// +optional
	Maintenance *Maintenance `json:"maintenance,omitempty"`
	// Monitoring holds settings of the monitoring.
	// +optional
	Monitoring *Monitoring `json:"monitoring,omitempty"`
	// Networking holds the address ranges and the network plugin.
	// +optional
	Networking *Networking `json:"networking,omitempty"`
	// Purpose says what the cluster is for. Defaults to evaluation.
	// +optional
	Purpose *ShootPurpose `json:"purpose,omitempty"`
	// Resources are objects of the project that provider configs refer to.
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty"`
	// SchedulerName names the scheduler that chooses the seed. Defaults to default-scheduler.
	// +optional
	SchedulerName *string `json:"schedulerName,omitempty"`
	// SecretBindingName names the credentials of the provider; excludes credentialsBindingName. It never changes.
	// +optional
	SecretBindingName *string `json:"secretBindingName,omitempty"`
	// SeedName is the seed that runs the control plane; chosen by the scheduler when unset.
	// +optional
	SeedName *string `json:"seedName,omitempty"`
	// SeedSelector restricts the seeds that the scheduler may choose.
	// +optional
	SeedSelector *SeedSelector `json:"seedSelector,omitempty"`
	// SystemComponents holds settings of components inside the cluster.
	// +optional
	SystemComponents *SystemComponents `json:"systemComponents,omitempty"`
	// Tolerations lets the cluster be placed on seeds in spite of their taints.
	// +patchStrategy=merge
	// +patchMergeKey=key
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty" patchStrategy:"merge" patchMergeKey:"key"`
}

// ShootPurpose says what a shoot is for.
type ShootPurpose string

const (
	// ShootPurposeEvaluation is for trials.
	ShootPurposeEvaluation ShootPurpose = "evaluation"
	// ShootPurposeTesting is for tests.
	ShootPurposeTesting ShootPurpose = "testing"
	// ShootPurposeDevelopment is for development.
	ShootPurposeDevelopment ShootPurpose = "development"
	// ShootPurposeProduction is for production; such shoots are treated with more care.
	ShootPurposeProduction ShootPurpose = "production"
	// ShootPurposeInfrastructure is for the garden's own clusters; only in the namespace garden.
	ShootPurposeInfrastructure ShootPurpose = "infrastructure"
)

// CloudProfileReference names a cloud profile.
type CloudProfileReference struct {
	// Name is the name of the cloud profile.
	Name string `json:"name"`
	// Kind is CloudProfile or NamespacedCloudProfile.
	Kind string `json:"kind"`
}
