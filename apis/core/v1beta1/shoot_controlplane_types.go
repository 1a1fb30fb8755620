// SPDX-License-Identifier: Apache-2.0

package v1beta1

// ControlPlane holds settings of a shoot's control plane.
type ControlPlane struct {
	// HighAvailability says which failures the control plane survives; it cannot be lowered.
	// +optional
	HighAvailability *HighAvailability `json:"highAvailability,omitempty" protobuf:"bytes,1,opt,name=highAvailability"`
	// Zones are the availability zones of the seed that it runs in; only where the cloud profile allows to choose.
	// +optional
	Zones []string `json:"zones,omitempty" protobuf:"bytes,2,rep,name=zones"`
}

// Monitoring holds settings of a shoot's monitoring.
type Monitoring struct {
	// Alerting says who gets alerts.
	// +optional
	Alerting *Alerting `json:"alerting,omitempty" protobuf:"bytes,1,opt,name=alerting"`
}

// Alerting says who gets alerts.
type Alerting struct {
	// EmailReceivers are mail addresses.
	// +optional
	EmailReceivers []string `json:"emailReceivers,omitempty" protobuf:"bytes,1,rep,name=emailReceivers"`
}
