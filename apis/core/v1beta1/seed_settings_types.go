// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// SeedSettings turns functions of a seed on and off.
type SeedSettings struct {
	// DependencyWatchdog configures the watch over components that depend on one another.
	// +optional
	DependencyWatchdog *SeedSettingDependencyWatchdog `json:"dependencyWatchdog,omitempty"`
	// ExcessCapacityReservation keeps room for new control planes.
	// +optional
	ExcessCapacityReservation *SeedSettingExcessCapacityReservation `json:"excessCapacityReservation,omitempty"`
	// LoadBalancerServices configures the seed's load balancers.
	// +optional
	LoadBalancerServices *SeedSettingLoadBalancerServices `json:"loadBalancerServices,omitempty"`
	// PersistentVolumeClaimAutoscaler lets volumes grow.
	// +optional
	PersistentVolumeClaimAutoscaler *SeedSettingPersistentVolumeClaimAutoscaler `json:"persistentVolumeClaimAutoscaler,omitempty"`
	// Scheduling says whether the scheduler may choose the seed.
	// +optional
	Scheduling *SeedSettingScheduling `json:"scheduling,omitempty"`
	// TopologyAwareRouting keeps traffic within a zone.
	// +optional
	TopologyAwareRouting *SeedSettingTopologyAwareRouting `json:"topologyAwareRouting,omitempty"`
	// VerticalPodAutoscaler configures the seed's own autoscaler of pods.
	// +optional
	VerticalPodAutoscaler *SeedSettingVerticalPodAutoscaler `json:"verticalPodAutoscaler,omitempty"`
	// ZoneSelection says how the zones of control planes are chosen.
	// +optional
	ZoneSelection *SeedSettingZoneSelection `json:"zoneSelection,omitempty"`
	// OwnerChecks was the guard against two seeds acting on one shoot. Ignored; last used by Gardener v1.75.
	// +optional
	OwnerChecks *SeedSettingOwnerChecks `json:"ownerChecks,omitempty"`
	// ShootDNS turned names for shoots on and off. Ignored; last used by Gardener v1.63.
	// +optional
	ShootDNS *SeedSettingShootDNS `json:"shootDNS,omitempty"`
}

// SeedSettingDependencyWatchdog configures the watch over components that depend on one another.
type SeedSettingDependencyWatchdog struct {
	// Prober scales controllers down while an API server cannot be reached by nodes.
	// +optional
	Prober *SeedSettingDependencyWatchdogProber `json:"prober,omitempty"`
	// Weeder restarts pods that crash because something they need came back.
	// +optional
	Weeder *SeedSettingDependencyWatchdogWeeder `json:"weeder,omitempty"`
	// Endpoint was the former name of weeder. Ignored; last used by Gardener v1.83.
	// +optional
	Endpoint *SeedSettingDependencyWatchdogEndpoint `json:"endpoint,omitempty"`
	// Probe was the former name of prober. Ignored; last used by Gardener v1.83.
	// +optional
	Probe *SeedSettingDependencyWatchdogProbe `json:"probe,omitempty"`
}

// SeedSettingDependencyWatchdogProber turns the prober on or off.
type SeedSettingDependencyWatchdogProber struct {
	// Enabled turns it on. Defaults to true when the object is absent.
	Enabled bool `json:"enabled"`
}

// SeedSettingDependencyWatchdogWeeder turns the weeder on or off.
type SeedSettingDependencyWatchdogWeeder struct {
	// Enabled turns it on. Defaults to true when the object is absent.
	Enabled bool `json:"enabled"`
}

// SeedSettingDependencyWatchdogEndpoint is the former form of SeedSettingDependencyWatchdogWeeder.
type SeedSettingDependencyWatchdogEndpoint struct {
	// Enabled turned it on.
	Enabled bool `json:"enabled"`
}

// SeedSettingDependencyWatchdogProbe is the former form of SeedSettingDependencyWatchdogProber.
type SeedSettingDependencyWatchdogProbe struct {
	// Enabled turned it on.
	Enabled bool `json:"enabled"`
}

// SeedSettingExcessCapacityReservation keeps room for new control planes.
type SeedSettingExcessCapacityReservation struct {
	// Enabled turns the reservation on. Defaults to true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// Configs say how much is reserved where; one of 2 processors and 6Gi of memory by default.
	// +optional
	Configs []SeedSettingExcessCapacityReservationConfig `json:"configs,omitempty"`
}

// SeedSettingExcessCapacityReservationConfig is a reservation.
type SeedSettingExcessCapacityReservationConfig struct {
	// Resources is the amount of each resource.
	Resources map[string]resource.Quantity `json:"resources"`
	// NodeSelector selects the nodes.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations lets the reservation use tainted nodes.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
}

// SeedSettingLoadBalancerServices configures a seed's load balancers.
type SeedSettingLoadBalancerServices struct {
	// Annotations are put on the Services.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// Class is the load balancer class. It never changes.
	// +optional
	Class *string `json:"class,omitempty"`
	// ExternalTrafficPolicy is Cluster or Local.
	// +optional
	ExternalTrafficPolicy *ExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// ProxyProtocol says whether load balancers tell the address of the client.
	// +optional
	ProxyProtocol *LoadBalancerServicesProxyProtocol `json:"proxyProtocol,omitempty"`
	// ZonalIngress says whether each zone has a gateway of its own.
	// +optional
	ZonalIngress *SeedSettingLoadBalancerServicesZonalIngress `json:"zonalIngress,omitempty"`
	// Zones holds settings for gateways of single zones.
	// +optional
	Zones []SeedSettingLoadBalancerServicesZones `json:"zones,omitempty"`
}

// LoadBalancerServicesProxyProtocol says whether load balancers tell the address of the client.
type LoadBalancerServicesProxyProtocol struct {
	// Allowed says whether gateways accept such traffic, besides ordinary traffic.
	Allowed bool `json:"allowed"`
}

// SeedSettingLoadBalancerServicesZonalIngress says whether each zone has a gateway of its own.
type SeedSettingLoadBalancerServicesZonalIngress struct {
	// Enabled says so. Defaults to true when the object is absent.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// SeedSettingLoadBalancerServicesZones holds settings for the gateway of a zone.
type SeedSettingLoadBalancerServicesZones struct {
	// Name is the zone.
	Name string `json:"name"`
	// Annotations are put on the Service.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// ExternalTrafficPolicy is Cluster or Local.
	// +optional
	ExternalTrafficPolicy *ExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// ProxyProtocol says whether the load balancer tells the address of the client.
	// +optional
	ProxyProtocol *LoadBalancerServicesProxyProtocol `json:"proxyProtocol,omitempty"`
}

// SeedSettingPersistentVolumeClaimAutoscaler lets volumes grow.
type SeedSettingPersistentVolumeClaimAutoscaler struct {
	// Enabled turns it on.
	Enabled bool `json:"enabled"`
}

// SeedSettingScheduling says whether the scheduler may choose a seed.
type SeedSettingScheduling struct {
	// Visible says so; shoots that name the seed are not affected. Defaults to true when the object is absent.
	Visible bool `json:"visible"`
}

// SeedSettingTopologyAwareRouting keeps traffic within a zone.
type SeedSettingTopologyAwareRouting struct {
	// Enabled turns it on; only useful on seeds with several zones.
	Enabled bool `json:"enabled"`
}

// SeedSettingVerticalPodAutoscaler configures a seed's own autoscaler of pods.
type SeedSettingVerticalPodAutoscaler struct {
	// Enabled installs it; a seed that brings its own says false. Defaults to true when the object is absent.
	Enabled bool `json:"enabled"`
	// FeatureGates turns its features on or off.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty"`
	// MaxAllowed bounds what it may recommend for a container.
	// +optional
	MaxAllowed map[string]resource.Quantity `json:"maxAllowed,omitempty"`
}

// SeedSettingZoneSelection says how the zones of control planes are chosen.
type SeedSettingZoneSelection struct {
	// Mode is Prefer or Enforce.
	Mode ZoneSelectionMode `json:"mode"`
}

// ZoneSelectionMode says how much the zones of a shoot's workers count when those of its control plane are
// chosen.
type ZoneSelectionMode string

const (
	// ZoneSelectionModePrefer takes them where the seed has them.
	ZoneSelectionModePrefer ZoneSelectionMode = "Prefer"
	// ZoneSelectionModeEnforce takes only seeds that have them.
	ZoneSelectionModeEnforce ZoneSelectionMode = "Enforce"
)

// SeedSettingOwnerChecks was the guard against two seeds acting on one shoot.
type SeedSettingOwnerChecks struct {
	// Enabled turned it on.
	Enabled bool `json:"enabled"`
}

// SeedSettingShootDNS turned names for shoots on and off.
type SeedSettingShootDNS struct {
	// Enabled turned them on.
	Enabled bool `json:"enabled"`
}
