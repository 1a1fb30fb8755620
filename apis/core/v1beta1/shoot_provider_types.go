// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Provider has its documentation written later.
type Provider struct {
	Type string `json:"type"`
	// +optional
	ControlPlaneConfig *runtime.RawExtension `json:"controlPlaneConfig,omitempty"`
	// +optional
	InfrastructureConfig *runtime.RawExtension `json:"infrastructureConfig,omitempty"`
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +optional
	Workers []Worker `json:"workers,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	// +optional
	WorkersSettings *WorkersSettings `json:"workersSettings,omitempty"`
}

// Worker has its documentation written later.
type Worker struct {
	Name    string  `json:"name"`
	Machine Machine `json:"machine"`
	Maximum int32   `json:"maximum"`
	Minimum int32   `json:"minimum"`
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// +optional
	CABundle *string `json:"caBundle,omitempty"`
	// +optional
	ClusterAutoscaler *ClusterAutoscalerOptions `json:"clusterAutoscaler,omitempty"`
	// +optional
	ControlPlane *WorkerControlPlane `json:"controlPlane,omitempty"`
	// +optional
	CRI *CRI `json:"cri,omitempty"`
	// +optional
	DataVolumes []DataVolume `json:"dataVolumes,omitempty"`
	// +optional
	KubeletDataVolumeName *string `json:"kubeletDataVolumeName,omitempty"`
	// +optional
	Kubernetes *WorkerKubernetes `json:"kubernetes,omitempty"`
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// +optional
	MachineControllerManager *MachineControllerManagerSettings `json:"machineControllerManager,omitempty"`
	// +optional
	MaxSurge *intstr.IntOrString `json:"maxSurge,omitempty"`
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// +optional
	Priority *int32 `json:"priority,omitempty"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
	// +optional
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// +optional
	SystemComponents *WorkerSystemComponents `json:"systemComponents,omitempty"`
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
	// +optional
	UpdateStrategy *MachineUpdateStrategy `json:"updateStrategy,omitempty"`
	// +optional
	Volume *Volume `json:"volume,omitempty"`
	// +optional
	Zones []string `json:"zones,omitempty"`
}

// MachineUpdateStrategy has its documentation written later.
type MachineUpdateStrategy string

const (
	// MachineUpdateStrategyAutoRollingUpdate stands for AutoRollingUpdate.
	MachineUpdateStrategyAutoRollingUpdate MachineUpdateStrategy = "AutoRollingUpdate"
	// MachineUpdateStrategyAutoInPlaceUpdate stands for AutoInPlaceUpdate.
	MachineUpdateStrategyAutoInPlaceUpdate MachineUpdateStrategy = "AutoInPlaceUpdate"
	// MachineUpdateStrategyManualInPlaceUpdate stands for ManualInPlaceUpdate.
	MachineUpdateStrategyManualInPlaceUpdate MachineUpdateStrategy = "ManualInPlaceUpdate"
)

// WorkerControlPlane has its documentation written later.
type WorkerControlPlane struct {
	// +optional
	Backup *Backup `json:"backup,omitempty"`
	// +optional
	Exposure *Exposure `json:"exposure,omitempty"`
}

// Exposure has its documentation written later.
type Exposure struct {
	// +optional
	DNS *DNSExposure `json:"dns,omitempty"`
	// +optional
	Extension *ExtensionExposure `json:"extension,omitempty"`
}

// DNSExposure has its documentation written later.
type DNSExposure struct {
}

// ExtensionExposure has its documentation written later.
type ExtensionExposure struct {
	// +optional
	Type *string `json:"type,omitempty"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}

// DataVolume has its documentation written later.
type DataVolume struct {
	Name string `json:"name"`
	Size string `json:"size"`
	// +optional
	Type *string `json:"type,omitempty"`
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
}

// WorkerKubernetes has its documentation written later.
type WorkerKubernetes struct {
	// +optional
	Version *string `json:"version,omitempty"`
	// +optional
	Kubelet *KubeletConfig `json:"kubelet,omitempty"`
}

// Machine has its documentation written later.
type Machine struct {
	Type string `json:"type"`
	// +optional
	Architecture *string `json:"architecture,omitempty"`
	// +optional
	Image *ShootMachineImage `json:"image,omitempty"`
}

// ShootMachineImage has its documentation written later.
type ShootMachineImage struct {
	Name string `json:"name"`
	// +optional
	Version *string `json:"version,omitempty"`
	// +optional
	ProviderConfig *runtime.RawExtension `json:"providerConfig,omitempty"`
}

// MachineControllerManagerSettings has its documentation written later.
type MachineControllerManagerSettings struct {
	// +optional
	AutoPreserveFailedMachineMax *int32 `json:"autoPreserveFailedMachineMax,omitempty"`
	// +optional
	DisableHealthTimeout *bool `json:"disableHealthTimeout,omitempty"`
	// +optional
	InPlaceUpdateTimeout *metav1.Duration `json:"inPlaceUpdateTimeout,omitempty"`
	// +optional
	MachineCreationTimeout *metav1.Duration `json:"machineCreationTimeout,omitempty"`
	// +optional
	MachineDrainTimeout *metav1.Duration `json:"machineDrainTimeout,omitempty"`
	// +optional
	MachineHealthTimeout *metav1.Duration `json:"machineHealthTimeout,omitempty"`
	// +optional
	MachinePreserveTimeout *metav1.Duration `json:"machinePreserveTimeout,omitempty"`
	// +optional
	MaxEvictRetries *int32 `json:"maxEvictRetries,omitempty"`
	// +optional
	NodeConditions []string `json:"nodeConditions,omitempty"`
}

// WorkerSystemComponents has its documentation written later.
type WorkerSystemComponents struct {
	Allow bool `json:"allow"`
}

// Volume has its documentation written later.
type Volume struct {
	Size string `json:"size"`
	// +optional
	Name *string `json:"name,omitempty"`
	// +optional
	Type *string `json:"type,omitempty"`
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
}

// WorkersSettings has its documentation written later.
type WorkersSettings struct {
	// +optional
	SSHAccess *SSHAccess `json:"sshAccess,omitempty"`
}

// SSHAccess has its documentation written later.
type SSHAccess struct {
	Enabled bool `json:"enabled"`
}
