// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Shoot is a Kubernetes cluster that the garden creates and manages.
type Shoot struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec is the desired state of the cluster.
	// +optional
	Spec ShootSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
	// Status is the observed state of the cluster.
	// +optional
	Status ShootStatus `json:"status,omitempty" protobuf:"bytes,3,opt,name=status"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ShootList is a list of shoots.
type ShootList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the shoots.
	Items []Shoot `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ShootSpec is the desired state of a cluster.
type ShootSpec struct {
	// Kubernetes holds the version and the settings of the components.
	Kubernetes Kubernetes `json:"kubernetes" protobuf:"bytes,6,opt,name=kubernetes"`
	// Provider says where the cluster runs and on which machines.
	Provider Provider `json:"provider" protobuf:"bytes,10,opt,name=provider"`
	// Region is a region of the cloud profile. It never changes.
	Region string `json:"region" protobuf:"bytes,12,opt,name=region"`
	// AccessRestrictions are the restrictions that seed and region must satisfy.
	// +optional
	AccessRestrictions []AccessRestrictionWithOptions `json:"accessRestrictions,omitempty" protobuf:"bytes,24,rep,name=accessRestrictions"`
	// Addons are components for trials.
	// +optional
	Addons *Addons `json:"addons,omitempty" protobuf:"bytes,1,opt,name=addons"`
	// CloudProfile names the cloud profile, of the garden or of the project.
	// +optional
	CloudProfile *CloudProfileReference `json:"cloudProfile,omitempty" protobuf:"bytes,22,opt,name=cloudProfile"`
	// CloudProfileName names a cloud profile of the garden; superseded by cloudProfile.
	// +optional
	CloudProfileName *string `json:"cloudProfileName,omitempty" protobuf:"bytes,2,opt,name=cloudProfileName"`
	// ControlPlane holds settings of the control plane.
	// +optional
	ControlPlane *ControlPlane `json:"controlPlane,omitempty" protobuf:"bytes,20,opt,name=controlPlane"`
	// CredentialsBindingName names the credentials of the provider; excludes secretBindingName.
	// +optional
	CredentialsBindingName *string `json:"credentialsBindingName,omitempty" protobuf:"bytes,23,opt,name=credentialsBindingName"`
	// DNS says under which name the cluster is reached.
	// +optional
	DNS *DNS `json:"dns,omitempty" protobuf:"bytes,3,opt,name=dns"`
	// ExposureClassName names a way in which the API server is exposed. It never changes.
	// +optional
	ExposureClassName *string `json:"exposureClassName,omitempty" protobuf:"bytes,18,opt,name=exposureClassName"`
	// Extensions are further extensions for the cluster.
	// +optional
	Extensions []Extension `json:"extensions,omitempty" protobuf:"bytes,4,rep,name=extensions"`
	// Hibernation says whether and when the cluster is hibernated.
	// +optional
	Hibernation *Hibernation `json:"hibernation,omitempty" protobuf:"bytes,5,opt,name=hibernation"`
	// Maintenance says when the cluster may be changed automatically, and what is done then.
	// +optional
	Maintenance *Maintenance `json:"maintenance,omitempty" protobuf:"bytes,8,opt,name=maintenance"`
	// Monitoring holds settings of the monitoring.
	// +optional
	Monitoring *Monitoring `json:"monitoring,omitempty" protobuf:"bytes,9,opt,name=monitoring"`
	// Networking holds the address ranges and the network plugin.
	// +optional
	Networking *Networking `json:"networking,omitempty" protobuf:"bytes,7,opt,name=networking"`
	// Purpose says what the cluster is for. Defaults to evaluation.
	// +optional
	Purpose *ShootPurpose `json:"purpose,omitempty" protobuf:"bytes,11,opt,name=purpose"`
	// Resources are objects of the project that provider configs refer to.
	// +optional
	Resources []NamedResourceReference `json:"resources,omitempty" protobuf:"bytes,16,rep,name=resources"`
	// SchedulerName names the scheduler that chooses the seed. Defaults to default-scheduler.
	// +optional
	SchedulerName *string `json:"schedulerName,omitempty" protobuf:"bytes,21,opt,name=schedulerName"`
	// SecretBindingName names the credentials of the provider of a cluster before Kubernetes 1.34; excludes
	// credentialsBindingName. It never changes, except that it can be replaced by that one.
	// +optional
	SecretBindingName *string `json:"secretBindingName,omitempty" protobuf:"bytes,13,opt,name=secretBindingName"`
	// SeedName is the seed that runs the control plane; chosen by the scheduler when unset.
	// +optional
	SeedName *string `json:"seedName,omitempty" protobuf:"bytes,14,opt,name=seedName"`
	// SeedSelector restricts the seeds that the scheduler may choose.
	// +optional
	SeedSelector *SeedSelector `json:"seedSelector,omitempty" protobuf:"bytes,15,opt,name=seedSelector"`
	// SystemComponents holds settings of components inside the cluster.
	// +optional
	SystemComponents *SystemComponents `json:"systemComponents,omitempty" protobuf:"bytes,19,opt,name=systemComponents"`
	// Tolerations lets the cluster be placed on seeds despite their taints.
	// +patchStrategy=merge
	// +patchMergeKey=key
	// +optional
	Tolerations []Toleration `json:"tolerations,omitempty" protobuf:"bytes,17,rep,name=tolerations" patchStrategy:"merge" patchMergeKey:"key"`
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
	Name string `json:"name" protobuf:"bytes,2,opt,name=name"`
	// Kind is CloudProfile or NamespacedCloudProfile.
	Kind string `json:"kind" protobuf:"bytes,1,opt,name=kind"`
}
