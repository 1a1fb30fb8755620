// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// CRIConfig describes the container runtime of a machine.
type CRIConfig struct {
	// Name is the runtime; only containerd is known. It never changes.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the container runtime cannot change"
	Name CRIName `json:"name"`
	// CgroupDriver is the cgroup driver that kubelet and runtime agree on.
	// +optional
	CgroupDriver *CgroupDriverName `json:"cgroupDriver,omitempty"`
	// Containerd is configuration for containerd.
	// +optional
	Containerd *ContainerdConfig `json:"containerd,omitempty"`
}

// CRIName is the name of a container runtime.
// +kubebuilder:validation:Enum=containerd
type CRIName string

const (
	// CRINameContainerd is the containerd runtime.
	CRINameContainerd CRIName = "containerd"
)

// CgroupDriverName is the name of a driver for control groups.
type CgroupDriverName string

const (
	// CgroupDriverNameCgroupfs manages cgroups through the file system.
	CgroupDriverNameCgroupfs CgroupDriverName = "cgroupfs"
	// CgroupDriverNameSystemd leaves cgroups to systemd.
	CgroupDriverNameSystemd CgroupDriverName = "systemd"
)

// ContainerdConfig is configuration for containerd.
type ContainerdConfig struct {
	// SandboxImage is the reference of the pause image.
	SandboxImage string `json:"sandboxImage"`
	// Registries says how image registries are reached.
	// +optional
	Registries []RegistryConfig `json:"registries,omitempty"`
	// Plugins are changes to the plugin section of the configuration file.
	// +optional
	Plugins []PluginConfig `json:"plugins,omitempty"`
}

// PluginConfig changes one place of containerd's plugin configuration.
type PluginConfig struct {
	// Path is the list of keys that leads to the place.
	Path []string `json:"path"`
	// Op says whether values are added or the place is removed; add when unset.
	// +optional
	Op *PluginPathOperation `json:"op,omitempty"`
	// Values are merged into the place.
	// +optional
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
}

// PluginPathOperation is an operation on containerd's plugin configuration.
type PluginPathOperation string

const (
	// PluginPathOperationAdd adds values.
	PluginPathOperationAdd PluginPathOperation = "add"
	// PluginPathOperationRemove removes the place.
	PluginPathOperationRemove PluginPathOperation = "remove"
)

// RegistryConfig says how an image registry is reached.
type RegistryConfig struct {
	// Upstream is the host name of the registry as it appears in image references.
	Upstream string `json:"upstream"`
	// Server is the URL of the registry itself, asked when no mirror answers.
	// +optional
	Server *string `json:"server,omitempty"`
	// Hosts are mirrors, asked in order.
	// +optional
	Hosts []RegistryHost `json:"hosts,omitempty"`
	// ReadinessProbe says whether to wait for the mirrors before they are configured.
	// +optional
	ReadinessProbe *bool `json:"readinessProbe,omitempty"`
}

// RegistryHost is a mirror of an image registry.
type RegistryHost struct {
	// URL is the address of the mirror.
	URL string `json:"url"`
	// Capabilities say what the mirror may be asked for.
	// +optional
	Capabilities []RegistryCapability `json:"capabilities,omitempty"`
	// CACerts are paths of files with certificates that the mirror may present.
	// +optional
	CACerts []string `json:"caCerts,omitempty"`
	// OverridePath says that the URL already contains the path of the registry API.
	// +optional
	OverridePath *bool `json:"overridePath,omitempty"`
}

// RegistryCapability is something that a registry mirror can do.
type RegistryCapability string

const (
	// RegistryCapabilityPull lets images be pulled by digest.
	RegistryCapabilityPull RegistryCapability = "pull"
	// RegistryCapabilityResolve lets tags be resolved.
	RegistryCapabilityResolve RegistryCapability = "resolve"
	// RegistryCapabilityPush lets images be pushed.
	RegistryCapabilityPush RegistryCapability = "push"
)
