// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,path=workers,singular=worker
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name="Region",type=string,JSONPath=`.spec.region`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.lastOperation.state`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:metadata:labels="gardener.cloud/deletion-protected=true"
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// Worker asks for pools of machines that join a shoot as nodes.
type Worker struct {
	metav1.TypeMeta `json:",inline"`
	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state, written by the gardenlet.
	Spec WorkerSpec `json:"spec"`
	// Status is what the extension controller reports.
	// +optional
	Status WorkerStatus `json:"status,omitempty"`
}

// +kubebuilder:object:root=true
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// WorkerList is a list of Worker objects.
type WorkerList struct {
	metav1.TypeMeta `json:",inline"`
	// List metadata: resource version and paging.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []Worker `json:"items"`
}

// WorkerSpec lists the pools and what their machines need.
type WorkerSpec struct {
	DefaultSpec `json:",inline"`

	// Pools are the desired groups of machines.
	Pools []WorkerPool `json:"pools"`
	// Region is the region of the shoot.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the region cannot change"
	Region string `json:"region"`
	// SecretRef names the Secret with the provider credentials of the shoot.
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != ''",message="the name of the Secret is required"
	SecretRef corev1.SecretReference `json:"secretRef"`
	// InfrastructureProviderStatus is a copy of the provider status of the Infrastructure.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	InfrastructureProviderStatus *runtime.RawExtension `json:"infrastructureProviderStatus,omitempty"`
	// SSHPublicKey is installed on the machines.
	// +optional
	SSHPublicKey []byte `json:"sshPublicKey,omitempty"`
}

// +kubebuilder:validation:XValidation:rule="has(self.machineImage) && self.machineImage.name != '' && self.machineImage.version != ''",message="the name and the version of the machine image are required"

// WorkerPool is a group of identical machines.
type WorkerPool struct {
	// Name is the name of the pool, unique in the shoot.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// MachineType is the provider's name of the machine size.
	// +kubebuilder:validation:MinLength=1
	MachineType string `json:"machineType"`
	// MachineImage is the operating system image, with its name and version.
	// +optional
	MachineImage MachineImage `json:"machineImage,omitempty"`
	// Maximum is the largest number of machines.
	Maximum int32 `json:"maximum"`
	// Minimum is the smallest number of machines.
	Minimum int32 `json:"minimum"`
	// MaxSurge is how many machines may exist above the desired number during an update.
	MaxSurge intstr.IntOrString `json:"maxSurge"`
	// MaxUnavailable is how many machines may be missing during an update.
	MaxUnavailable intstr.IntOrString `json:"maxUnavailable"`
	// UserDataSecretRef names the Secret and key with the user data for new machines.
	// +kubebuilder:validation:XValidation:rule="has(self.name) && self.name != '' && self.key != ''",message="the name and the key of the Secret with the user data are required"
	UserDataSecretRef corev1.SecretKeySelector `json:"userDataSecretRef"`
	// Annotations are put on the nodes.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// Labels are put on the nodes.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Taints are put on the nodes.
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
	// ProviderConfig is configuration of the pool that only the provider understands.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
	// Volume is the root volume of a machine.
	// +optional
	Volume *Volume `json:"volume,omitempty"`
	// DataVolumes are further volumes of a machine.
	// +optional
	DataVolumes []DataVolume `json:"dataVolumes,omitempty"`
	// KubeletDataVolumeName names the data volume that the kubelet uses for its state.
	// +optional
	KubeletDataVolumeName *string `json:"kubeletDataVolumeName,omitempty"`
	// Zones are the availability zones over which machines are spread.
	// +optional
	Zones []string `json:"zones,omitempty"`
	// MachineControllerManagerSettings are timeouts and limits for the life of machines.
	// +optional
	MachineControllerManagerSettings *gardencorev1beta1.MachineControllerManagerSettings `json:"machineControllerManager,omitempty"`
	// KubernetesVersion is the version of the kubelet.
	// +optional
	KubernetesVersion *string `json:"kubernetesVersion,omitempty"`
	// KubeletConfig is configuration of the kubelet, needed to compute what a new node offers.
	// +optional
	KubeletConfig *gardencorev1beta1.KubeletConfig `json:"kubeletConfig,omitempty"`
	// NodeTemplate describes a node of the pool to the cluster autoscaler.
	// +optional
	NodeTemplate *NodeTemplate `json:"nodeTemplate,omitempty"`
	// Architecture is the processor architecture, amd64 or arm64.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// ClusterAutoscaler are settings of the cluster autoscaler for this pool.
	// +optional
	ClusterAutoscaler *ClusterAutoscalerOptions `json:"clusterAutoscaler,omitempty"`
	// Priority ranks the pool for the priority expander of the cluster autoscaler.
	// +optional
	Priority *int32 `json:"priority,omitempty"`
	// UpdateStrategy says whether machines are replaced or updated in place.
	// +optional
	UpdateStrategy *gardencorev1beta1.MachineUpdateStrategy `json:"updateStrategy,omitempty"`
	// NodeAgentSecretName is the name of the Secret that machines of this pool read their configuration from.
	// +optional
	NodeAgentSecretName *string `json:"nodeAgentSecretName,omitempty"`
}

// ClusterAutoscalerOptions are settings of the cluster autoscaler for one pool.
type ClusterAutoscalerOptions struct {
	// ScaleDownUtilizationThreshold is the share of requested resources below which a node may be removed.
	// +optional
	ScaleDownUtilizationThreshold *string `json:"scaleDownUtilizationThreshold,omitempty"`
	// ScaleDownGPUUtilizationThreshold is the share of requested GPUs below which a node may be removed.
	// +optional
	ScaleDownGPUUtilizationThreshold *string `json:"scaleDownGpuUtilizationThreshold,omitempty"`
	// ScaleDownUnneededTime is how long a node must be unneeded before it is removed.
	// +optional
	ScaleDownUnneededTime *metav1.Duration `json:"scaleDownUnneededTime,omitempty"`
	// ScaleDownUnreadyTime is how long an unready node must be unneeded before it is removed.
	// +optional
	ScaleDownUnreadyTime *metav1.Duration `json:"scaleDownUnreadyTime,omitempty"`
	// MaxNodeProvisionTime is how long to wait for a new node.
	// +optional
	MaxNodeProvisionTime *metav1.Duration `json:"maxNodeProvisionTime,omitempty"`
}

// MachineImage identifies an operating system image.
type MachineImage struct {
	// Name is the name of the image in the cloud profile.
	Name string `json:"name"`
	// Version is the version of the image.
	Version string `json:"version"`
}

// NodeTemplate describes what a node offers.
type NodeTemplate struct {
	// Capacity is the amount of each resource that the machine has.
	Capacity corev1.ResourceList `json:"capacity"`
	// VirtualCapacity is the amount of extended resources that do not depend on the machine.
	// +optional
	VirtualCapacity corev1.ResourceList `json:"virtualCapacity,omitempty"`
}

// Volume is the root volume of a machine.
type Volume struct {
	// Size is the size with its unit.
	Size string `json:"size"`
	// Name is the name of the volume.
	// +optional
	Name *string `json:"name,omitempty"`
	// Type is the provider's name of the volume type.
	// +optional
	Type *string `json:"type,omitempty"`
	// Encrypted says whether the volume is encrypted.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
}

// DataVolume is a further volume of a machine.
type DataVolume struct {
	// Name is the name of the volume.
	Name string `json:"name"`
	// Size is the size with its unit.
	Size string `json:"size"`
	// Type is the provider's name of the volume type.
	// +optional
	Type *string `json:"type,omitempty"`
	// Encrypted says whether the volume is encrypted.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
}

// WorkerStatus reports which machine groups exist.
type WorkerStatus struct {
	DefaultStatus `json:",inline"`

	// MachineDeployments are the groups of machines made for the pools, one for each pool and zone.
	// +optional
	MachineDeployments []MachineDeployment `json:"machineDeployments,omitempty"`
	// MachineDeploymentsLastUpdateTime is when the list of machine deployments was last written.
	// +optional
	MachineDeploymentsLastUpdateTime *metav1.Time `json:"machineDeploymentsLastUpdateTime,omitempty"`
	// InPlaceUpdates holds hashes of the pools whose machines are updated in place.
	// +optional
	InPlaceUpdates *InPlaceUpdatesWorkerStatus `json:"inPlaceUpdates,omitempty"`
}

// MachineDeployment is a group of machines with its bounds.
type MachineDeployment struct {
	// Name is the name of the group.
	Name string `json:"name"`
	// Minimum is the smallest number of machines.
	Minimum int32 `json:"minimum"`
	// Maximum is the largest number of machines.
	Maximum int32 `json:"maximum"`
	// Priority ranks the group for the priority expander of the cluster autoscaler.
	// +optional
	Priority *int32 `json:"priority,omitempty"`
	// AutoPreserveFailedMachineMax is how many failed machines are kept for analysis.
	// +optional
	AutoPreserveFailedMachineMax *int32 `json:"autoPreserveFailedMachineMax,omitempty"`
}

// InPlaceUpdatesWorkerStatus reports for which state of a pool its machines were last updated in place.
type InPlaceUpdatesWorkerStatus struct {
	// WorkerPoolToHashMap maps the name of a pool to the hash of its data.
	// +optional
	WorkerPoolToHashMap map[string]string `json:"workerPoolToHashMap,omitempty"`
}
