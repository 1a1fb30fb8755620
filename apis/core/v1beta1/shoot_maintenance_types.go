// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Maintenance says when a shoot may be changed automatically, and what is done then.
type Maintenance struct {
	// AutoRotation configures the automatic rotation of credentials.
	// +optional
	AutoRotation *MaintenanceAutoRotation `json:"autoRotation,omitempty" protobuf:"bytes,4,opt,name=autoRotation"`
	// AutoUpdate configures automatic updates of versions.
	// +optional
	AutoUpdate *MaintenanceAutoUpdate `json:"autoUpdate,omitempty" protobuf:"bytes,1,opt,name=autoUpdate"`
	// ConfineSpecUpdateRollout defers the rollout of spec changes to the time window.
	// +optional
	ConfineSpecUpdateRollout *bool `json:"confineSpecUpdateRollout,omitempty" protobuf:"varint,3,opt,name=confineSpecUpdateRollout"`
	// TimeWindow is when maintenance happens; the server chooses an hour when unset.
	// +optional
	TimeWindow *MaintenanceTimeWindow `json:"timeWindow,omitempty" protobuf:"bytes,2,opt,name=timeWindow"`
}

// Hibernation says whether and when a shoot is hibernated, without nodes and without a running control plane.
type Hibernation struct {
	// Enabled hibernates the shoot or wakes it up.
	// +optional
	Enabled *bool `json:"enabled,omitempty" protobuf:"varint,1,opt,name=enabled"`
	// Schedules say when the shoot is hibernated and woken up automatically.
	// +optional
	Schedules []HibernationSchedule `json:"schedules,omitempty" protobuf:"bytes,2,rep,name=schedules"`
}

// MaintenanceAutoRotation says what is rotated automatically.
type MaintenanceAutoRotation struct {
	// Credentials says which credentials are.
	// +optional
	Credentials *MaintenanceCredentialsAutoRotation `json:"credentials,omitempty" protobuf:"bytes,1,opt,name=credentials"`
}

// MaintenanceCredentialsAutoRotation says which credentials are rotated automatically.
type MaintenanceCredentialsAutoRotation struct {
	// ETCDEncryptionKey is about the key that encrypts etcd.
	// +optional
	ETCDEncryptionKey *MaintenanceRotationConfig `json:"etcdEncryptionKey,omitempty" protobuf:"bytes,3,opt,name=etcdEncryptionKey"`
	// Observability is about the password for monitoring.
	// +optional
	Observability *MaintenanceRotationConfig `json:"observability,omitempty" protobuf:"bytes,1,opt,name=observability"`
	// SSHKeypair is about the SSH keys of the machines.
	// +optional
	SSHKeypair *MaintenanceRotationConfig `json:"sshKeypair,omitempty" protobuf:"bytes,2,opt,name=sshKeypair"`
}

// MaintenanceRotationConfig says how often something is rotated.
type MaintenanceRotationConfig struct {
	// RotationPeriod is the time between two rotations; 0s means never. Defaults to 168h.
	// +optional
	RotationPeriod *metav1.Duration `json:"rotationPeriod,omitempty" protobuf:"bytes,1,opt,name=rotationPeriod"`
}

// MaintenanceAutoUpdate says which versions are updated automatically.
type MaintenanceAutoUpdate struct {
	// KubernetesVersion updates to newer patches of the Kubernetes version. Defaults to true.
	KubernetesVersion bool `json:"kubernetesVersion" protobuf:"varint,1,opt,name=kubernetesVersion"`
	// MachineImageVersion updates to newer versions of the machine images. Defaults to true.
	// +optional
	MachineImageVersion *bool `json:"machineImageVersion,omitempty" protobuf:"varint,2,opt,name=machineImageVersion"`
}

// MaintenanceTimeWindow is a time of day, between 30 minutes and 6 hours long.
type MaintenanceTimeWindow struct {
	// Begin is the start in the form HHMMSS+ZONE, for instance 220000+0100.
	Begin string `json:"begin" protobuf:"bytes,1,opt,name=begin"`
	// End is the end in the same form; on the next day if it is before the start.
	End string `json:"end" protobuf:"bytes,2,opt,name=end"`
}

// HibernationSchedule says when a shoot is hibernated and woken up.
type HibernationSchedule struct {
	// End is a cron expression for waking up.
	// +optional
	End *string `json:"end,omitempty" protobuf:"bytes,2,opt,name=end"`
	// Location is the time zone of both, for instance Europe/Berlin. Defaults to UTC.
	// +optional
	Location *string `json:"location,omitempty" protobuf:"bytes,3,opt,name=location"`
	// Start is a cron expression for the start of hibernation.
	// +optional
	Start *string `json:"start,omitempty" protobuf:"bytes,1,opt,name=start"`
}
