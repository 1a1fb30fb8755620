// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerRegistration has its documentation written later.
type ControllerRegistration struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec ControllerRegistrationSpec `json:"spec,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ControllerRegistrationList has its documentation written later.
type ControllerRegistrationList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ControllerRegistration `json:"items"`
}

// ControllerRegistrationSpec has its documentation written later.
type ControllerRegistrationSpec struct {
	// +optional
	Deployment *ControllerRegistrationDeployment `json:"deployment,omitempty"`
	// +optional
	Resources []ControllerResource `json:"resources,omitempty"`
}

// ControllerRegistrationDeployment has its documentation written later.
type ControllerRegistrationDeployment struct {
	// +optional
	DeploymentRefs []DeploymentRef `json:"deploymentRefs,omitempty"`
	// +optional
	Policy *ControllerDeploymentPolicy `json:"policy,omitempty"`
	// +optional
	SeedSelector *metav1.LabelSelector `json:"seedSelector,omitempty"`
}

// ControllerDeploymentPolicy has its documentation written later.
type ControllerDeploymentPolicy string

const (
	// ControllerDeploymentPolicyOnDemand stands for OnDemand.
	ControllerDeploymentPolicyOnDemand ControllerDeploymentPolicy = "OnDemand"
	// ControllerDeploymentPolicyAlways stands for Always.
	ControllerDeploymentPolicyAlways ControllerDeploymentPolicy = "Always"
	// ControllerDeploymentPolicyAlwaysExceptNoShoots stands for AlwaysExceptNoShoots.
	ControllerDeploymentPolicyAlwaysExceptNoShoots ControllerDeploymentPolicy = "AlwaysExceptNoShoots"
)

// DeploymentRef has its documentation written later.
type DeploymentRef struct {
	Name string `json:"name"`
}

// ControllerResource has its documentation written later.
type ControllerResource struct {
	Type string `json:"type"`
	Kind string `json:"kind"`
	// +optional
	AutoEnable []ClusterType `json:"autoEnable,omitempty"`
	// +optional
	ClusterCompatibility []ClusterType `json:"clusterCompatibility,omitempty"`
	// +optional
	ContinuousEndpointUpdate *bool `json:"continuousEndpointUpdate,omitempty"`
	// +optional
	Lifecycle *ControllerResourceLifecycle `json:"lifecycle,omitempty"`
	// +optional
	Primary *bool `json:"primary,omitempty"`
	// +optional
	ReconcileTimeout *metav1.Duration `json:"reconcileTimeout,omitempty"`
	// +optional
	WorkerlessSupported *bool `json:"workerlessSupported,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.122.
	// +optional
	GloballyEnabled *bool `json:"globallyEnabled,omitempty"`
}

// ClusterType has its documentation written later.
type ClusterType string

const (
	// ClusterTypeShoot stands for shoot.
	ClusterTypeShoot ClusterType = "shoot"
	// ClusterTypeSeed stands for seed.
	ClusterTypeSeed ClusterType = "seed"
)

// ControllerResourceLifecycle has its documentation written later.
type ControllerResourceLifecycle struct {
	// +optional
	Delete *ControllerResourceLifecycleStrategy `json:"delete,omitempty"`
	// +optional
	Migrate *ControllerResourceLifecycleStrategy `json:"migrate,omitempty"`
	// +optional
	Reconcile *ControllerResourceLifecycleStrategy `json:"reconcile,omitempty"`
}

// ControllerResourceLifecycleStrategy has its documentation written later.
type ControllerResourceLifecycleStrategy string

const (
	// ControllerResourceLifecycleStrategyBeforeKubeAPIServer stands for BeforeKubeAPIServer.
	ControllerResourceLifecycleStrategyBeforeKubeAPIServer ControllerResourceLifecycleStrategy = "BeforeKubeAPIServer"
	// ControllerResourceLifecycleStrategyAfterKubeAPIServer stands for AfterKubeAPIServer.
	ControllerResourceLifecycleStrategyAfterKubeAPIServer ControllerResourceLifecycleStrategy = "AfterKubeAPIServer"
	// ControllerResourceLifecycleStrategyAfterWorker stands for AfterWorker.
	ControllerResourceLifecycleStrategyAfterWorker ControllerResourceLifecycleStrategy = "AfterWorker"
)
