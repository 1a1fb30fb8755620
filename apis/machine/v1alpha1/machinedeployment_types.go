// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:resource:scope=Namespaced,path=machinedeployments,singular=machinedeployment,shortName=mcd
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Up-to-date",type=integer,JSONPath=`.status.updatedReplicas`
// +kubebuilder:printcolumn:name="Available",type=integer,JSONPath=`.status.availableReplicas`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MachineDeployment is a number of machines that are replaced, a few at a time, when their template changes.
type MachineDeployment struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	// +optional
	Spec MachineDeploymentSpec `json:"spec,omitempty"`
	// Status is what the machine controller reports.
	// +optional
	Status MachineDeploymentStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// MachineDeploymentList is a list of MachineDeployment objects.
type MachineDeploymentList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []MachineDeployment `json:"items"`
}

// MachineDeploymentSpec says how many machines there are, what they are made from, and how they are replaced.
type MachineDeploymentSpec struct {
	// Replicas is the wanted number of machines.
	// +optional
	Replicas int32 `json:"replicas"`
	// Selector selects the Machines of the deployment.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Template is what the Machines are made from.
	Template MachineTemplateSpec `json:"template"`
	// Strategy is how machines are replaced.
	// +optional
	Strategy MachineDeploymentStrategy `json:"strategy,omitempty"`
	// MinReadySeconds is how long a machine must be ready until it counts as available.
	// +optional
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`
	// RevisionHistoryLimit is the number of old MachineSets without machines that are kept.
	// +optional
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
	// Paused deployments are left alone.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// ProgressDeadlineSeconds is how long a replacement may go without progress until it counts as failed.
	// +optional
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`
	// AutoPreserveFailedMachineMax is how many failed machines are kept at the same time without anybody having asked for it.
	// +optional
	AutoPreserveFailedMachineMax int32 `json:"autoPreserveFailedMachineMax,omitempty"`
}

// MachineDeploymentStrategy is how machines are replaced.
type MachineDeploymentStrategy struct {
	// Type of the strategy.
	// +kubebuilder:validation:Enum=Recreate;RollingUpdate;InPlaceUpdate
	// +optional
	Type MachineDeploymentStrategyType `json:"type,omitempty"`
	// RollingUpdate are the settings of the strategy RollingUpdate.
	// +optional
	RollingUpdate *RollingUpdateMachineDeployment `json:"rollingUpdate,omitempty"`
	// InPlaceUpdate are the settings of the strategy InPlaceUpdate.
	// +optional
	InPlaceUpdate *InPlaceUpdateMachineDeployment `json:"inPlaceUpdate,omitempty"`
}

// MachineDeploymentStrategyType names a strategy.
type MachineDeploymentStrategyType string

const (
	// RecreateStrategy deletes all old machines before it creates new ones.
	RecreateStrategy MachineDeploymentStrategyType = "Recreate"
	// RollingUpdateStrategy replaces old machines by new ones, a few at a time.
	RollingUpdateStrategy MachineDeploymentStrategyType = "RollingUpdate"
	// InPlaceUpdateStrategy updates machines in place.
	InPlaceUpdateStrategy MachineDeploymentStrategyType = "InPlaceUpdate"
)

// RollingUpdateMachineDeployment limits a replacement of machines.
type RollingUpdateMachineDeployment struct {
	UpdateConfiguration `json:",inline"`
}

// InPlaceUpdateMachineDeployment limits an update in place.
type InPlaceUpdateMachineDeployment struct {
	UpdateConfiguration `json:",inline"`

	// OrchestrationType says who chooses the machines to update: Auto or Manual.
	// +optional
	OrchestrationType OrchestrationType `json:"orchestrationType,omitempty"`
}

// UpdateConfiguration limits how many machines are replaced at the same time.
type UpdateConfiguration struct {
	// MaxUnavailable is how many of the wanted machines may be missing, as a number or as a percentage that is rounded down.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// MaxSurge is how many machines more than wanted may exist, as a number or as a percentage that is rounded up.
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
}

// OrchestrationType says who chooses the machines to update in place.
type OrchestrationType string

const (
	// OrchestrationTypeAuto leaves the choice to the machine controller.
	OrchestrationTypeAuto OrchestrationType = "Auto"
	// OrchestrationTypeManual leaves the choice to the user.
	OrchestrationTypeManual OrchestrationType = "Manual"
)

// MachineDeploymentStatus reports the machines of a deployment.
type MachineDeploymentStatus struct {
	// ObservedGeneration is the generation of the spec that the numbers are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Replicas is the number of Machines that are not being deleted.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// UpdatedReplicas is the number of those that are made from the present template.
	// +optional
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`
	// ReadyReplicas is the number of Machines whose node is ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// AvailableReplicas is the number of Machines whose node has been ready for MinReadySeconds.
	// +optional
	AvailableReplicas int32 `json:"availableReplicas,omitempty"`
	// UnavailableReplicas is the number of available machines that are missing.
	// +optional
	UnavailableReplicas int32 `json:"unavailableReplicas,omitempty"`
	// PreservedFailedReplicas is the number of Machines that have failed and are kept.
	// +optional
	PreservedFailedReplicas int32 `json:"preservedFailedReplicas,omitempty"`
	// Conditions of the deployment.
	// +optional
	Conditions []MachineDeploymentCondition `json:"conditions,omitempty"`
	// CollisionCount is the number of times that the name of a new MachineSet was taken.
	// +optional
	CollisionCount *int32 `json:"collisionCount,omitempty"`
	// FailedMachines are the machines with which something went wrong.
	// +optional
	FailedMachines []MachineSummary `json:"failedMachines,omitempty"`
}

// Types of conditions of a MachineDeployment.
const (
	// MachineDeploymentAvailable says whether as many machines are available as the strategy requires.
	MachineDeploymentAvailable = "Available"
	// MachineDeploymentProgressing says whether a replacement goes on.
	MachineDeploymentProgressing = "Progressing"
)

// MachineDeploymentCondition is one aspect of a deployment.
type MachineDeploymentCondition struct {
	// Type of the condition.
	Type string `json:"type"`
	// Status of the condition: True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// LastUpdateTime is when the condition was last written.
	// +optional
	LastUpdateTime metav1.Time `json:"lastUpdateTime,omitempty"`
	// LastTransitionTime is when the status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
	// Reason is a word for why.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message says why.
	// +optional
	Message string `json:"message,omitempty"`
}
