// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Provider says where a shoot runs and on which machines.
type Provider struct {
	// Type is the provider type. It never changes.
	Type string `json:"type"`
	// ControlPlaneConfig is configuration of the control plane that only the provider understands.
	// +optional
	ControlPlaneConfig *runtime.RawExtension `json:"controlPlaneConfig,omitempty"`
	// InfrastructureConfig is configuration of the infrastructure that only the provider understands.
	// +optional
	InfrastructureConfig *runtime.RawExtension `json:"infrastructureConfig,omitempty"`
	// Workers are the pools of machines; a shoot without any has a control plane only.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Workers []Worker `json:"workers,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// WorkersSettings holds settings for all pools.
	// +optional
	WorkersSettings *WorkersSettings `json:"workersSettings,omitempty"`
}

// Worker is a pool of like machines.
type Worker struct {
	// Name is the name of the pool. It never changes.
	Name string `json:"name"`
	// Machine is the size and the image of the machines.
	Machine Machine `json:"machine"`
	// Maximum is the largest number of machines.
	Maximum int32 `json:"maximum"`
	// Minimum is the smallest number of machines.
	Minimum int32 `json:"minimum"`
	// Annotations are put on the nodes.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// CABundle holds certificates in PEM that the machines should trust.
	// +optional
	CABundle *string `json:"caBundle,omitempty"`
	// ClusterAutoscaler holds settings of the cluster autoscaler for this pool.
	// +optional
	ClusterAutoscaler *ClusterAutoscalerOptions `json:"clusterAutoscaler,omitempty"`
	// ControlPlane makes the machines of this pool run the shoot's own control plane.
	// +optional
	ControlPlane *WorkerControlPlane `json:"controlPlane,omitempty"`
	// CRI is the container runtime of the machines.
	// +optional
	CRI *CRI `json:"cri,omitempty"`
	// DataVolumes are further volumes of a machine.
	// +optional
	DataVolumes []DataVolume `json:"dataVolumes,omitempty"`
	// KubeletDataVolumeName names the data volume that the kubelet uses for its state.
	// +optional
	KubeletDataVolumeName *string `json:"kubeletDataVolumeName,omitempty"`
	// Kubernetes holds a version and settings that differ from those of the shoot.
	// +optional
	Kubernetes *WorkerKubernetes `json:"kubernetes,omitempty"`
	// Labels are put on the nodes.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// MachineControllerManager holds timeouts and limits for the life of the machines.
	// +optional
	MachineControllerManager *MachineControllerManagerSettings `json:"machineControllerManager,omitempty"`
	// MaxSurge is how many machines may exist above the wanted number during an update. Defaults to 1, or 0 for
	// updates in place.
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
	// MaxUnavailable is how many machines may be missing during an update. Defaults to 0, or 1 for updates in place.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// Priority ranks the pool for the priority expander of the cluster autoscaler.
	// +optional
	Priority *int32 `json:"priority,omitempty"`
	// ProviderConfig is configuration of the pool that only the provider understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
	// Sysctls are kernel settings of the machines.
	// +optional
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// SystemComponents says whether the pool takes system components.
	// +optional
	SystemComponents *WorkerSystemComponents `json:"systemComponents,omitempty"`
	// Taints are put on the nodes.
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
	// UpdateStrategy says how machines get a new state. Defaults to AutoRollingUpdate.
	// +optional
	UpdateStrategy *MachineUpdateStrategy `json:"updateStrategy,omitempty"`
	// Volume is the root volume of a machine.
	// +optional
	Volume *Volume `json:"volume,omitempty"`
	// Zones are the availability zones over which the machines are spread.
	// +optional
	Zones []string `json:"zones,omitempty"`
}

// MachineUpdateStrategy says how the machines of a pool get a new state.
type MachineUpdateStrategy string

const (
	// MachineUpdateStrategyAutoRollingUpdate replaces them one after the other.
	MachineUpdateStrategyAutoRollingUpdate MachineUpdateStrategy = "AutoRollingUpdate"
	// MachineUpdateStrategyAutoInPlaceUpdate updates them in place one after the other.
	MachineUpdateStrategyAutoInPlaceUpdate MachineUpdateStrategy = "AutoInPlaceUpdate"
	// MachineUpdateStrategyManualInPlaceUpdate updates those in place that the user picks.
	MachineUpdateStrategyManualInPlaceUpdate MachineUpdateStrategy = "ManualInPlaceUpdate"
)

// WorkerControlPlane holds settings of a control plane that runs in its own shoot.
type WorkerControlPlane struct {
	// Backup says where backups of its etcd are kept.
	// +optional
	Backup *Backup `json:"backup,omitempty"`
	// Exposure says how its API server is reached.
	// +optional
	Exposure *Exposure `json:"exposure,omitempty"`
}

// Exposure says how the API server of a self-hosted shoot is reached; one of the fields is set.
type Exposure struct {
	// DNS lets a DNS record point at the control plane nodes.
	// +optional
	DNS *DNSExposure `json:"dns,omitempty"`
	// Extension leaves it to an extension.
	// +optional
	Extension *ExtensionExposure `json:"extension,omitempty"`
}

// DNSExposure lets a DNS record point at the control plane nodes; there is nothing to set.
type DNSExposure struct{}

// ExtensionExposure leaves the exposure to an extension.
type ExtensionExposure struct {
	// Type is the type of the extension. Defaults to the provider type.
	// +optional
	Type *string `json:"type,omitempty"`
	// ProviderConfig is configuration that only the extension understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}

// DataVolume is a further volume of a machine.
type DataVolume struct {
	// Name is the name of the volume.
	Name string `json:"name"`
	// Size is the size with its unit.
	Size string `json:"size"`
	// Type is the volume type of the cloud profile.
	// +optional
	Type *string `json:"type,omitempty"`
	// Encrypted asks for encryption.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
}

// WorkerKubernetes holds a version and settings of a pool that differ from those of its shoot.
type WorkerKubernetes struct {
	// Version is the version of the kubelet; not newer than that of the shoot and at most two minor versions older.
	// +optional
	Version *string `json:"version,omitempty"`
	// Kubelet holds settings of the kubelets; it replaces those of the shoot as a whole.
	// +optional
	Kubelet *KubeletConfig `json:"kubelet,omitempty"`
}

// Machine is the size and the image of machines.
type Machine struct {
	// Type is a machine type of the cloud profile.
	Type string `json:"type"`
	// Architecture is amd64 or arm64. Defaults to amd64.
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// Image is the operating system image; the first one of the cloud profile that fits when unset.
	// +optional
	Image *ShootMachineImage `json:"image,omitempty"`
}

// ShootMachineImage is the operating system image of machines.
type ShootMachineImage struct {
	// Name is an image of the cloud profile.
	Name string `json:"name"`
	// Version is a version of the image: complete, or a part of it for the newest that starts so; the newest
	// supported one when unset.
	// +optional
	Version *string `json:"version,omitempty"`
	// ProviderConfig is configuration that only the operating system extension understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}

// MachineControllerManagerSettings holds timeouts and limits for the life of machines.
type MachineControllerManagerSettings struct {
	// AutoPreserveFailedMachineMax is how many failed machines are kept for analysis.
	// +optional
	AutoPreserveFailedMachineMax *int32 `json:"autoPreserveFailedMachineMax,omitempty"`
	// DisableHealthTimeout keeps unhealthy machines from being replaced; on by default for updates in place.
	// +optional
	DisableHealthTimeout *bool `json:"disableHealthTimeout,omitempty"`
	// InPlaceUpdateTimeout is how long an update in place may take.
	// +optional
	InPlaceUpdateTimeout *metav1.Duration `json:"inPlaceUpdateTimeout,omitempty"`
	// MachineCreationTimeout is how long a machine may take to become a node.
	// +optional
	MachineCreationTimeout *metav1.Duration `json:"machineCreationTimeout,omitempty"`
	// MachineDrainTimeout is how long a machine may take to be drained before it is removed by force.
	// +optional
	MachineDrainTimeout *metav1.Duration `json:"machineDrainTimeout,omitempty"`
	// MachineHealthTimeout is how long a machine may be unhealthy before it is replaced.
	// +optional
	MachineHealthTimeout *metav1.Duration `json:"machineHealthTimeout,omitempty"`
	// MachinePreserveTimeout is how long a failed machine is kept for analysis.
	// +optional
	MachinePreserveTimeout *metav1.Duration `json:"machinePreserveTimeout,omitempty"`
	// MaxEvictRetries is how often the eviction of a pod is tried.
	// +optional
	MaxEvictRetries *int32 `json:"maxEvictRetries,omitempty"`
	// NodeConditions are the conditions of a node that make its machine unhealthy.
	// +optional
	NodeConditions []string `json:"nodeConditions,omitempty"`
}

// WorkerSystemComponents says whether a pool takes system components.
type WorkerSystemComponents struct {
	// Allow says so.
	Allow bool `json:"allow"`
}

// Volume is the root volume of a machine.
type Volume struct {
	// Size is the size with its unit.
	Size string `json:"size"`
	// Name is the name of the volume.
	// +optional
	Name *string `json:"name,omitempty"`
	// Type is the volume type of the cloud profile.
	// +optional
	Type *string `json:"type,omitempty"`
	// Encrypted asks for encryption.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
}

// WorkersSettings holds settings for all pools.
type WorkersSettings struct {
	// SSHAccess says whether machines can be reached by SSH.
	// +optional
	SSHAccess *SSHAccess `json:"sshAccess,omitempty"`
}

// SSHAccess says whether machines can be reached by SSH.
type SSHAccess struct {
	// Enabled says so. Defaults to true when the object is absent.
	Enabled bool `json:"enabled"`
}
