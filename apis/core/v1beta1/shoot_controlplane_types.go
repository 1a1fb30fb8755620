// SPDX-License-Identifier: Apache-2.0

package v1beta1

// ControlPlane has its documentation written later.
type ControlPlane struct {
	// +optional
	HighAvailability *HighAvailability `json:"highAvailability,omitempty"`
	// +optional
	Zones []string `json:"zones,omitempty"`
}

// Monitoring has its documentation written later.
type Monitoring struct {
	// +optional
	Alerting *Alerting `json:"alerting,omitempty"`
}

// Alerting has its documentation written later.
type Alerting struct {
	// +optional
	EmailReceivers []string `json:"emailReceivers,omitempty"`
}
