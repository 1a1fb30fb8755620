// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Maintenance says when a shoot may be changed on its own, and what is done then.
type Maintenance struct {
	// AutoRotation rotates credentials by itself.
	// +optional
	AutoRotation *MaintenanceAutoRotation `json:"autoRotation,omitempty" protobuf:"bytes,4,opt,name=autoRotation"`
	// AutoUpdate updates versions by itself.
	// +optional
	AutoUpdate *MaintenanceAutoUpdate `json:"autoUpdate,omitempty" protobuf:"bytes,1,opt,name=autoUpdate"`
	// ConfineSpecUpdateRollout puts changes of the spec off until the time window.
	// +optional
	ConfineSpecUpdateRollout *bool `json:"confineSpecUpdateRollout,omitempty" protobuf:"varint,3,opt,name=confineSpecUpdateRollout"`
	// TimeWindow is when maintenance happens; an hour of the server's choice when unset.
	// +optional
	TimeWindow *MaintenanceTimeWindow `json:"timeWindow,omitempty" protobuf:"bytes,2,opt,name=timeWindow"`
}

// Hibernation says whether and when a shoot sleeps, without nodes and without a running control plane.
type Hibernation struct {
	// Enabled puts the shoot to sleep or wakes it up.
	// +optional
	Enabled *bool `json:"enabled,omitempty" protobuf:"varint,1,opt,name=enabled"`
	// Schedules say when that happens by itself.
	// +optional
	Schedules []HibernationSchedule `json:"schedules,omitempty" protobuf:"bytes,2,rep,name=schedules"`
}

// MaintenanceAutoRotation says what is rotated by itself.
type MaintenanceAutoRotation struct {
	// Credentials says which credentials are.
	// +optional
	Credentials *MaintenanceCredentialsAutoRotation `json:"credentials,omitempty" protobuf:"bytes,1,opt,name=credentials"`
}

// MaintenanceCredentialsAutoRotation says which credentials are rotated by themselves.
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

// MaintenanceAutoUpdate says which versions are updated by themselves.
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
	// End is the end in the same form; the next day if it lies before the start.
	End string `json:"end" protobuf:"bytes,2,opt,name=end"`
}

// HibernationSchedule says when a shoot falls asleep and wakes up.
type HibernationSchedule struct {
	// End is a cron expression for waking up.
	// +optional
	End *string `json:"end,omitempty" protobuf:"bytes,2,opt,name=end"`
	// Location is the time zone of both, for instance Europe/Berlin. Defaults to UTC.
	// +optional
	Location *string `json:"location,omitempty" protobuf:"bytes,3,opt,name=location"`
	// Start is a cron expression for falling asleep.
	// +optional
	Start *string `json:"start,omitempty" protobuf:"bytes,1,opt,name=start"`
}
