// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Maintenance has its documentation written later.
type Maintenance struct {
	// +optional
	AutoRotation *MaintenanceAutoRotation `json:"autoRotation,omitempty"`
	// +optional
	AutoUpdate *MaintenanceAutoUpdate `json:"autoUpdate,omitempty"`
	// +optional
	ConfineSpecUpdateRollout *bool `json:"confineSpecUpdateRollout,omitempty"`
	// +optional
	TimeWindow *MaintenanceTimeWindow `json:"timeWindow,omitempty"`
}

// Hibernation has its documentation written later.
type Hibernation struct {
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// +optional
	Schedules []HibernationSchedule `json:"schedules,omitempty"`
}

// MaintenanceAutoRotation has its documentation written later.
type MaintenanceAutoRotation struct {
	// +optional
	Credentials *MaintenanceCredentialsAutoRotation `json:"credentials,omitempty"`
}

// MaintenanceCredentialsAutoRotation has its documentation written later.
type MaintenanceCredentialsAutoRotation struct {
	// +optional
	ETCDEncryptionKey *MaintenanceRotationConfig `json:"etcdEncryptionKey,omitempty"`
	// +optional
	Observability *MaintenanceRotationConfig `json:"observability,omitempty"`
	// +optional
	SSHKeypair *MaintenanceRotationConfig `json:"sshKeypair,omitempty"`
}

// MaintenanceRotationConfig has its documentation written later.
type MaintenanceRotationConfig struct {
	// +optional
	RotationPeriod *metav1.Duration `json:"rotationPeriod,omitempty"`
}

// MaintenanceAutoUpdate has its documentation written later.
type MaintenanceAutoUpdate struct {
	KubernetesVersion bool `json:"kubernetesVersion"`
	// +optional
	MachineImageVersion *bool `json:"machineImageVersion,omitempty"`
}

// MaintenanceTimeWindow has its documentation written later.
type MaintenanceTimeWindow struct {
	Begin string `json:"begin"`
	End   string `json:"end"`
}

// HibernationSchedule has its documentation written later.
type HibernationSchedule struct {
	// +optional
	End *string `json:"end,omitempty"`
	// +optional
	Location *string `json:"location,omitempty"`
	// +optional
	Start *string `json:"start,omitempty"`
}
