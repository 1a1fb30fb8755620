// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// SeedSettings has its documentation written later.
type SeedSettings struct {
	// +optional
	DependencyWatchdog *SeedSettingDependencyWatchdog `json:"dependencyWatchdog,omitempty"`
	// +optional
	ExcessCapacityReservation *SeedSettingExcessCapacityReservation `json:"excessCapacityReservation,omitempty"`
	// +optional
	LoadBalancerServices *SeedSettingLoadBalancerServices `json:"loadBalancerServices,omitempty"`
	// +optional
	PersistentVolumeClaimAutoscaler *SeedSettingPersistentVolumeClaimAutoscaler `json:"persistentVolumeClaimAutoscaler,omitempty"`
	// +optional
	Scheduling *SeedSettingScheduling `json:"scheduling,omitempty"`
	// +optional
	TopologyAwareRouting *SeedSettingTopologyAwareRouting `json:"topologyAwareRouting,omitempty"`
	// +optional
	VerticalPodAutoscaler *SeedSettingVerticalPodAutoscaler `json:"verticalPodAutoscaler,omitempty"`
	// +optional
	ZoneSelection *SeedSettingZoneSelection `json:"zoneSelection,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.75.
	// +optional
	OwnerChecks *SeedSettingOwnerChecks `json:"ownerChecks,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.63.
	// +optional
	ShootDNS *SeedSettingShootDNS `json:"shootDNS,omitempty"`
}

// SeedSettingDependencyWatchdog has its documentation written later.
type SeedSettingDependencyWatchdog struct {
	// +optional
	Prober *SeedSettingDependencyWatchdogProber `json:"prober,omitempty"`
	// +optional
	Weeder *SeedSettingDependencyWatchdogWeeder `json:"weeder,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.83.
	// +optional
	Endpoint *SeedSettingDependencyWatchdogEndpoint `json:"endpoint,omitempty"`
	// Kept so that older manifests decode. Ignored; last used by Gardener v1.83.
	// +optional
	Probe *SeedSettingDependencyWatchdogProbe `json:"probe,omitempty"`
}

// SeedSettingDependencyWatchdogProber has its documentation written later.
type SeedSettingDependencyWatchdogProber struct {
	Enabled bool `json:"enabled"`
}

// SeedSettingDependencyWatchdogWeeder has its documentation written later.
type SeedSettingDependencyWatchdogWeeder struct {
	Enabled bool `json:"enabled"`
}

// SeedSettingDependencyWatchdogEndpoint has its documentation written later.
type SeedSettingDependencyWatchdogEndpoint struct {
	Enabled bool `json:"enabled"`
}

// SeedSettingDependencyWatchdogProbe has its documentation written later.
type SeedSettingDependencyWatchdogProbe struct {
	Enabled bool `json:"enabled"`
}

// SeedSettingExcessCapacityReservation has its documentation written later.
type SeedSettingExcessCapacityReservation struct {
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// +optional
	Configs []SeedSettingExcessCapacityReservationConfig `json:"configs,omitempty"`
}

// SeedSettingExcessCapacityReservationConfig has its documentation written later.
type SeedSettingExcessCapacityReservationConfig struct {
	Resources map[string]resource.Quantity `json:"resources"`
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
}

// SeedSettingLoadBalancerServices has its documentation written later.
type SeedSettingLoadBalancerServices struct {
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// +optional
	Class *string `json:"class,omitempty"`
	// +optional
	ExternalTrafficPolicy *corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// +optional
	ProxyProtocol *LoadBalancerServicesProxyProtocol `json:"proxyProtocol,omitempty"`
	// +optional
	ZonalIngress *SeedSettingLoadBalancerServicesZonalIngress `json:"zonalIngress,omitempty"`
	// +optional
	Zones []SeedSettingLoadBalancerServicesZones `json:"zones,omitempty"`
}

// LoadBalancerServicesProxyProtocol has its documentation written later.
type LoadBalancerServicesProxyProtocol struct {
	Allowed bool `json:"allowed"`
}

// SeedSettingLoadBalancerServicesZonalIngress has its documentation written later.
type SeedSettingLoadBalancerServicesZonalIngress struct {
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// SeedSettingLoadBalancerServicesZones has its documentation written later.
type SeedSettingLoadBalancerServicesZones struct {
	Name string `json:"name"`
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// +optional
	ExternalTrafficPolicy *corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// +optional
	ProxyProtocol *LoadBalancerServicesProxyProtocol `json:"proxyProtocol,omitempty"`
}

// SeedSettingPersistentVolumeClaimAutoscaler has its documentation written later.
type SeedSettingPersistentVolumeClaimAutoscaler struct {
	Enabled bool `json:"enabled"`
}

// SeedSettingScheduling has its documentation written later.
type SeedSettingScheduling struct {
	Visible bool `json:"visible"`
}

// SeedSettingTopologyAwareRouting has its documentation written later.
type SeedSettingTopologyAwareRouting struct {
	Enabled bool `json:"enabled"`
}

// SeedSettingVerticalPodAutoscaler has its documentation written later.
type SeedSettingVerticalPodAutoscaler struct {
	Enabled bool `json:"enabled"`
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// +optional
	MaxAllowed map[string]resource.Quantity `json:"maxAllowed,omitempty"`
}

// SeedSettingZoneSelection has its documentation written later.
type SeedSettingZoneSelection struct {
	Mode ZoneSelectionMode `json:"mode"`
}

// ZoneSelectionMode has its documentation written later.
type ZoneSelectionMode string

const (
	// ZoneSelectionModePrefer stands for Prefer.
	ZoneSelectionModePrefer ZoneSelectionMode = "Prefer"
	// ZoneSelectionModeEnforce stands for Enforce.
	ZoneSelectionModeEnforce ZoneSelectionMode = "Enforce"
)

// SeedSettingOwnerChecks has its documentation written later.
type SeedSettingOwnerChecks struct {
	Enabled bool `json:"enabled"`
}

// SeedSettingShootDNS has its documentation written later.
type SeedSettingShootDNS struct {
	Enabled bool `json:"enabled"`
}
