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
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
	// ControlPlaneConfig is configuration of the control plane that only the provider understands.
	// +optional
	ControlPlaneConfig *runtime.RawExtension `json:"controlPlaneConfig,omitempty" protobuf:"bytes,2,opt,name=controlPlaneConfig"`
	// InfrastructureConfig is configuration of the infrastructure that only the provider understands.
	// +optional
	InfrastructureConfig *runtime.RawExtension `json:"infrastructureConfig,omitempty" protobuf:"bytes,3,opt,name=infrastructureConfig"`
	// Workers are the pools of machines; a shoot without pools has only a control plane.
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Workers []Worker `json:"workers,omitempty" protobuf:"bytes,4,rep,name=workers" patchStrategy:"merge" patchMergeKey:"name"`
	// WorkersSettings holds settings for all pools.
	// +optional
	WorkersSettings *WorkersSettings `json:"workersSettings,omitempty" protobuf:"bytes,5,opt,name=workersSettings"`
}

// Worker is a pool of identical machines.
type Worker struct {
	// Name is the name of the pool. It never changes.
	Name string `json:"name" protobuf:"bytes,6,opt,name=name"`
	// Machine is the size and the image of the machines.
	Machine Machine `json:"machine" protobuf:"bytes,7,opt,name=machine"`
	// Maximum is the largest number of machines.
	Maximum int32 `json:"maximum" protobuf:"varint,8,opt,name=maximum"`
	// Minimum is the smallest number of machines.
	Minimum int32 `json:"minimum" protobuf:"varint,9,opt,name=minimum"`
	// Annotations are put on the nodes.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,1,rep,name=annotations"`
	// CABundle holds certificates in PEM that the machines should trust.
	// +optional
	CABundle *string `json:"caBundle,omitempty" protobuf:"bytes,2,opt,name=caBundle"`
	// ClusterAutoscaler holds settings of the cluster autoscaler for this pool.
	// +optional
	ClusterAutoscaler *ClusterAutoscalerOptions `json:"clusterAutoscaler,omitempty" protobuf:"bytes,21,opt,name=clusterAutoscaler"`
	// ControlPlane makes the machines of this pool run the shoot's own control plane.
	// +optional
	ControlPlane *WorkerControlPlane `json:"controlPlane,omitempty" protobuf:"bytes,24,opt,name=controlPlane"`
	// CRI is the container runtime of the machines.
	// +optional
	CRI *CRI `json:"cri,omitempty" protobuf:"bytes,3,opt,name=cri"`
	// DataVolumes are further volumes of a machine.
	// +optional
	DataVolumes []DataVolume `json:"dataVolumes,omitempty" protobuf:"bytes,15,rep,name=dataVolumes"`
	// KubeletDataVolumeName names the data volume that the kubelet uses for its state.
	// +optional
	KubeletDataVolumeName *string `json:"kubeletDataVolumeName,omitempty" protobuf:"bytes,16,opt,name=kubeletDataVolumeName"`
	// Kubernetes holds a version and settings that differ from those of the shoot.
	// +optional
	Kubernetes *WorkerKubernetes `json:"kubernetes,omitempty" protobuf:"bytes,4,opt,name=kubernetes"`
	// Labels are put on the nodes.
	// +optional
	Labels map[string]string `json:"labels,omitempty" protobuf:"bytes,5,rep,name=labels"`
	// MachineControllerManager holds timeouts and limits for the life of the machines.
	// +optional
	MachineControllerManager *MachineControllerManagerSettings `json:"machineControllerManager,omitempty" protobuf:"bytes,19,opt,name=machineControllerManager"`
	// MaxSurge is how many machines may exist above the desired number during an update. Defaults to 1, or 0 for
	// updates in place.
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty" protobuf:"bytes,10,opt,name=maxSurge"`
	// MaxUnavailable is how many machines may be missing during an update. Defaults to 0, or 1 for updates in place.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty" protobuf:"bytes,11,opt,name=maxUnavailable"`
	// Priority ranks the pool for the priority expander of the cluster autoscaler.
	// +optional
	Priority *int32 `json:"priority,omitempty" protobuf:"varint,22,opt,name=priority"`
	// ProviderConfig is configuration of the pool that only the provider understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,12,opt,name=providerConfig"`
	// Sysctls are kernel settings of the machines.
	// +optional
	Sysctls map[string]string `json:"sysctls,omitempty" protobuf:"bytes,20,rep,name=sysctls"`
	// SystemComponents says whether the pool takes system components.
	// +optional
	SystemComponents *WorkerSystemComponents `json:"systemComponents,omitempty" protobuf:"bytes,18,opt,name=systemComponents"`
	// Taints are put on the nodes.
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty" protobuf:"bytes,13,rep,name=taints"`
	// UpdateStrategy says how machines are updated. Defaults to AutoRollingUpdate.
	// +optional
	UpdateStrategy *MachineUpdateStrategy `json:"updateStrategy,omitempty" protobuf:"bytes,23,opt,name=updateStrategy"`
	// Volume is the root volume of a machine.
	// +optional
	Volume *Volume `json:"volume,omitempty" protobuf:"bytes,14,opt,name=volume"`
	// Zones are the availability zones over which the machines are spread.
	// +optional
	Zones []string `json:"zones,omitempty" protobuf:"bytes,17,rep,name=zones"`
}

// MachineUpdateStrategy says how the machines of a pool are updated.
type MachineUpdateStrategy string

const (
	// MachineUpdateStrategyAutoRollingUpdate replaces them one after the other.
	MachineUpdateStrategyAutoRollingUpdate MachineUpdateStrategy = "AutoRollingUpdate"
	// MachineUpdateStrategyAutoInPlaceUpdate updates them in place one after the other.
	MachineUpdateStrategyAutoInPlaceUpdate MachineUpdateStrategy = "AutoInPlaceUpdate"
	// MachineUpdateStrategyManualInPlaceUpdate updates machines in place that the user selects.
	MachineUpdateStrategyManualInPlaceUpdate MachineUpdateStrategy = "ManualInPlaceUpdate"
)

// WorkerControlPlane holds settings of a control plane that runs in its own shoot.
type WorkerControlPlane struct {
	// Backup says where backups of its etcd are kept.
	// +optional
	Backup *Backup `json:"backup,omitempty" protobuf:"bytes,1,opt,name=backup"`
	// Exposure says how its API server is reached.
	// +optional
	Exposure *Exposure `json:"exposure,omitempty" protobuf:"bytes,2,opt,name=exposure"`
}

// Exposure says how the API server of a self-hosted shoot is reached; one of the fields is set.
type Exposure struct {
	// DNS lets a DNS record point to the control plane nodes.
	// +optional
	DNS *DNSExposure `json:"dns,omitempty" protobuf:"bytes,2,opt,name=dns"`
	// Extension lets an extension expose the API server.
	// +optional
	Extension *ExtensionExposure `json:"extension,omitempty" protobuf:"bytes,1,opt,name=extension"`
}

// DNSExposure lets a DNS record point to the control plane nodes. It has no settings.
type DNSExposure struct{}

// ExtensionExposure leaves the exposure to an extension.
type ExtensionExposure struct {
	// Type is the type of the extension. Defaults to the provider type.
	// +optional
	Type *string `json:"type,omitempty" protobuf:"bytes,1,opt,name=type"`
	// ProviderConfig is configuration that only the extension understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,2,opt,name=providerConfig"`
}

// DataVolume is a further volume of a machine.
type DataVolume struct {
	// Name is the name of the volume.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// Size is the size with its unit.
	Size string `json:"size" protobuf:"bytes,3,opt,name=size"`
	// Type is the volume type of the cloud profile.
	// +optional
	Type *string `json:"type,omitempty" protobuf:"bytes,2,opt,name=type"`
	// Encrypted says whether the volume is encrypted.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty" protobuf:"varint,4,opt,name=encrypted"`
}

// WorkerKubernetes holds a version and settings of a pool that differ from those of its shoot.
type WorkerKubernetes struct {
	// Version is the version of the kubelet; not newer than that of the shoot and at most two minor versions older.
	// +optional
	Version *string `json:"version,omitempty" protobuf:"bytes,2,opt,name=version"`
	// Kubelet holds settings of the kubelets; it replaces those of the shoot as a whole.
	// +optional
	Kubelet *KubeletConfig `json:"kubelet,omitempty" protobuf:"bytes,1,opt,name=kubelet"`
}

// Machine is the size and the image of machines.
type Machine struct {
	// Type is a machine type of the cloud profile.
	Type string `json:"type" protobuf:"bytes,1,opt,name=type"`
	// Architecture is amd64 or arm64. Defaults to amd64.
	// +optional
	Architecture *string `json:"architecture,omitempty" protobuf:"bytes,3,opt,name=architecture"`
	// Image is the operating system image; the first suitable one of the cloud profile when unset.
	// +optional
	Image *ShootMachineImage `json:"image,omitempty" protobuf:"bytes,2,opt,name=image"`
}

// ShootMachineImage is the operating system image of machines.
type ShootMachineImage struct {
	// Name is an image of the cloud profile.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// Version is a version of the image: complete, or a prefix for the newest version with it; the newest supported one when
	// unset.
	// +optional
	Version *string `json:"version,omitempty" protobuf:"bytes,3,opt,name=version"`
	// ProviderConfig is configuration that only the operating system extension understands.
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty" protobuf:"bytes,2,opt,name=providerConfig"`
}

// MachineControllerManagerSettings holds timeouts and limits for the life of machines.
type MachineControllerManagerSettings struct {
	// AutoPreserveFailedMachineMax is how many failed machines are kept for analysis.
	// +optional
	AutoPreserveFailedMachineMax *int32 `json:"autoPreserveFailedMachineMax,omitempty" protobuf:"varint,9,opt,name=autoPreserveFailedMachineMax"`
	// DisableHealthTimeout keeps unhealthy machines from being replaced; on by default for updates in place.
	// +optional
	DisableHealthTimeout *bool `json:"disableHealthTimeout,omitempty" protobuf:"varint,7,opt,name=disableHealthTimeout"`
	// InPlaceUpdateTimeout is how long an update in place may take.
	// +optional
	InPlaceUpdateTimeout *metav1.Duration `json:"inPlaceUpdateTimeout,omitempty" protobuf:"bytes,6,opt,name=inPlaceUpdateTimeout"`
	// MachineCreationTimeout is how long a machine may take to become a node.
	// +optional
	MachineCreationTimeout *metav1.Duration `json:"machineCreationTimeout,omitempty" protobuf:"bytes,3,opt,name=machineCreationTimeout"`
	// MachineDrainTimeout is how long a machine may take to be drained before it is removed forcibly.
	// +optional
	MachineDrainTimeout *metav1.Duration `json:"machineDrainTimeout,omitempty" protobuf:"bytes,1,opt,name=machineDrainTimeout"`
	// MachineHealthTimeout is how long a machine may be unhealthy before it is replaced.
	// +optional
	MachineHealthTimeout *metav1.Duration `json:"machineHealthTimeout,omitempty" protobuf:"bytes,2,opt,name=machineHealthTimeout"`
	// MachinePreserveTimeout is how long a failed machine is kept for analysis.
	// +optional
	MachinePreserveTimeout *metav1.Duration `json:"machinePreserveTimeout,omitempty" protobuf:"bytes,8,opt,name=machinePreserveTimeout"`
	// MaxEvictRetries is how often the eviction of a pod is tried.
	// +optional
	MaxEvictRetries *int32 `json:"maxEvictRetries,omitempty" protobuf:"varint,4,opt,name=maxEvictRetries"`
	// NodeConditions are the conditions of a node that make its machine unhealthy.
	// +optional
	NodeConditions []string `json:"nodeConditions,omitempty" protobuf:"bytes,5,rep,name=nodeConditions"`
}

// WorkerSystemComponents says whether a pool takes system components.
type WorkerSystemComponents struct {
	// Allow says whether system components may run on the pool.
	Allow bool `json:"allow" protobuf:"varint,1,opt,name=allow"`
}

// Volume is the root volume of a machine.
type Volume struct {
	// Size is the size with its unit.
	Size string `json:"size" protobuf:"bytes,3,opt,name=size"`
	// Name is the name of the volume.
	// +optional
	Name *string `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"`
	// Type is the volume type of the cloud profile.
	// +optional
	Type *string `json:"type,omitempty" protobuf:"bytes,2,opt,name=type"`
	// Encrypted says whether the volume is encrypted.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty" protobuf:"varint,4,opt,name=encrypted"`
}

// WorkersSettings holds settings for all pools.
type WorkersSettings struct {
	// SSHAccess says whether machines can be reached by SSH.
	// +optional
	SSHAccess *SSHAccess `json:"sshAccess,omitempty" protobuf:"bytes,1,opt,name=sshAccess"`
}

// SSHAccess says whether machines can be reached by SSH.
type SSHAccess struct {
	// Enabled enables SSH access. Defaults to true when the object is absent.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}
