// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerRegistration registers an extension in the garden.
type ControllerRegistration struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Spec says what the extension does and how it is installed on seeds.
	// +optional
	Spec ControllerRegistrationSpec `json:"spec,omitempty" protobuf:"bytes,2,opt,name=spec"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerRegistrationList is a list of controller registrations.
type ControllerRegistrationList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	// Items are the controller registrations.
	Items []ControllerRegistration `json:"items" protobuf:"bytes,2,rep,name=items"`
}

// ControllerRegistrationSpec says what an extension does and how it is installed on seeds.
type ControllerRegistrationSpec struct {
	// Deployment says how and where the extension is installed.
	// +optional
	Deployment *ControllerRegistrationDeployment `json:"deployment,omitempty" protobuf:"bytes,2,opt,name=deployment"`
	// Resources are the kinds and types that the extension is responsible for.
	// +optional
	Resources []ControllerResource `json:"resources,omitempty" protobuf:"bytes,1,rep,name=resources"`
}

// ControllerRegistrationDeployment says how and where an extension is installed.
type ControllerRegistrationDeployment struct {
	// DeploymentRefs names the ControllerDeployment that holds the chart; exactly one is supported.
	// +optional
	DeploymentRefs []DeploymentRef `json:"deploymentRefs,omitempty" protobuf:"bytes,5,rep,name=deploymentRefs"`
	// Policy says when a seed gets the extension. Defaults to OnDemand.
	// +optional
	Policy *ControllerDeploymentPolicy `json:"policy,omitempty" protobuf:"bytes,3,opt,name=policy"`
	// SeedSelector restricts the seeds that get the extension; not allowed with a primary resource.
	// +optional
	SeedSelector *metav1.LabelSelector `json:"seedSelector,omitempty" protobuf:"bytes,4,opt,name=seedSelector"`
}

// ControllerDeploymentPolicy says when a seed gets an extension.
type ControllerDeploymentPolicy string

const (
	// ControllerDeploymentPolicyOnDemand installs the extension where it is needed.
	ControllerDeploymentPolicyOnDemand ControllerDeploymentPolicy = "OnDemand"
	// ControllerDeploymentPolicyAlways installs the extension on every seed.
	ControllerDeploymentPolicyAlways ControllerDeploymentPolicy = "Always"
	// ControllerDeploymentPolicyAlwaysExceptNoShoots installs the extension on every seed that has a shoot.
	ControllerDeploymentPolicyAlwaysExceptNoShoots ControllerDeploymentPolicy = "AlwaysExceptNoShoots"
)

// DeploymentRef refers to a ControllerDeployment.
type DeploymentRef struct {
	// Name is its name.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
}

// ControllerResource is a kind and type that an extension is responsible for.
type ControllerResource struct {
	// Type is the type, for instance the name of a provider.
	Type string `json:"type" protobuf:"bytes,2,opt,name=type"`
	// Kind is a kind of the extension contract.
	Kind string `json:"kind" protobuf:"bytes,1,opt,name=kind"`
	// AutoEnable lists the types of clusters for which the extension is enabled by default; only for kind Extension.
	// +optional
	AutoEnable []ClusterType `json:"autoEnable,omitempty" protobuf:"bytes,8,rep,name=autoEnable"`
	// ClusterCompatibility lists the types of clusters that the extension works with; only for kind Extension.
	// Defaults to shoot.
	// +optional
	ClusterCompatibility []ClusterType `json:"clusterCompatibility,omitempty" protobuf:"bytes,9,rep,name=clusterCompatibility"`
	// ContinuousEndpointUpdate says whether the endpoints of an exposure are kept up to date; only for kind
	// SelfHostedShootExposure. Defaults to true.
	// +optional
	ContinuousEndpointUpdate *bool `json:"continuousEndpointUpdate,omitempty" protobuf:"varint,10,opt,name=continuousEndpointUpdate"`
	// Lifecycle says at which point of an operation the extension acts; only for kind Extension.
	// +optional
	Lifecycle *ControllerResourceLifecycle `json:"lifecycle,omitempty" protobuf:"bytes,6,opt,name=lifecycle"`
	// Primary says that the extension is responsible for the object itself and not only takes part; one for each
	// kind and type. Defaults to true.
	// +optional
	Primary *bool `json:"primary,omitempty" protobuf:"varint,5,opt,name=primary"`
	// ReconcileTimeout is how long a reconciliation may take; only for kind Extension. Defaults to 3m.
	// +optional
	ReconcileTimeout *metav1.Duration `json:"reconcileTimeout,omitempty" protobuf:"bytes,4,opt,name=reconcileTimeout"`
	// WorkerlessSupported says whether the extension works with shoots without workers; only for kind Extension.
	// +optional
	WorkerlessSupported *bool `json:"workerlessSupported,omitempty" protobuf:"varint,7,opt,name=workerlessSupported"`
	// GloballyEnabled enables the extension for all shoots that do not disable it, as autoEnable does; superseded by that.
	// Last used by Gardener v1.122.
	// +optional
	GloballyEnabled *bool `json:"globallyEnabled,omitempty" protobuf:"varint,1001,opt,name=globallyEnabled"`
}

// ClusterType is a type of cluster.
type ClusterType string

const (
	// ClusterTypeShoot is a shoot.
	ClusterTypeShoot ClusterType = "shoot"
	// ClusterTypeSeed is a seed.
	ClusterTypeSeed ClusterType = "seed"
)

// ControllerResourceLifecycle says at which point of an operation an extension acts.
type ControllerResourceLifecycle struct {
	// Delete is the point in a deletion. Defaults to BeforeKubeAPIServer.
	// +optional
	Delete *ControllerResourceLifecycleStrategy `json:"delete,omitempty" protobuf:"bytes,2,opt,name=delete"`
	// Migrate is the point in a migration. Defaults to BeforeKubeAPIServer.
	// +optional
	Migrate *ControllerResourceLifecycleStrategy `json:"migrate,omitempty" protobuf:"bytes,3,opt,name=migrate"`
	// Reconcile is the point in a reconciliation. Defaults to AfterKubeAPIServer.
	// +optional
	Reconcile *ControllerResourceLifecycleStrategy `json:"reconcile,omitempty" protobuf:"bytes,1,opt,name=reconcile"`
}

// ControllerResourceLifecycleStrategy is a point in an operation on a shoot.
type ControllerResourceLifecycleStrategy string

const (
	// ControllerResourceLifecycleStrategyBeforeKubeAPIServer is the point before the API server is reconciled or deleted.
	ControllerResourceLifecycleStrategyBeforeKubeAPIServer ControllerResourceLifecycleStrategy = "BeforeKubeAPIServer"
	// ControllerResourceLifecycleStrategyAfterKubeAPIServer is the point after the API server was reconciled or deleted.
	ControllerResourceLifecycleStrategyAfterKubeAPIServer ControllerResourceLifecycleStrategy = "AfterKubeAPIServer"
	// ControllerResourceLifecycleStrategyAfterWorker is the point after the machines were reconciled or deleted.
	ControllerResourceLifecycleStrategyAfterWorker ControllerResourceLifecycleStrategy = "AfterWorker"
)
