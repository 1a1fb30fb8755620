// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// SeedSettings enables and disables features of a seed.
type SeedSettings struct {
	// DependencyWatchdog configures the watchdog for components that depend on each other.
	// +optional
	DependencyWatchdog *SeedSettingDependencyWatchdog `json:"dependencyWatchdog,omitempty" protobuf:"bytes,7,opt,name=dependencyWatchdog"`
	// ExcessCapacityReservation reserves capacity for new control planes.
	// +optional
	ExcessCapacityReservation *SeedSettingExcessCapacityReservation `json:"excessCapacityReservation,omitempty" protobuf:"bytes,1,opt,name=excessCapacityReservation"`
	// LoadBalancerServices configures the seed's load balancers.
	// +optional
	LoadBalancerServices *SeedSettingLoadBalancerServices `json:"loadBalancerServices,omitempty" protobuf:"bytes,4,opt,name=loadBalancerServices"`
	// PersistentVolumeClaimAutoscaler enlarges volumes automatically.
	// +optional
	PersistentVolumeClaimAutoscaler *SeedSettingPersistentVolumeClaimAutoscaler `json:"persistentVolumeClaimAutoscaler,omitempty" protobuf:"bytes,10,opt,name=persistentVolumeClaimAutoscaler"`
	// Scheduling says whether the scheduler may choose the seed.
	// +optional
	Scheduling *SeedSettingScheduling `json:"scheduling,omitempty" protobuf:"bytes,2,opt,name=scheduling"`
	// TopologyAwareRouting keeps traffic within a zone.
	// +optional
	TopologyAwareRouting *SeedSettingTopologyAwareRouting `json:"topologyAwareRouting,omitempty" protobuf:"bytes,8,opt,name=topologyAwareRouting"`
	// VerticalPodAutoscaler configures the seed's own autoscaler of pods.
	// +optional
	VerticalPodAutoscaler *SeedSettingVerticalPodAutoscaler `json:"verticalPodAutoscaler,omitempty" protobuf:"bytes,5,opt,name=verticalPodAutoscaler"`
	// ZoneSelection says how the zones of control planes are chosen.
	// +optional
	ZoneSelection *SeedSettingZoneSelection `json:"zoneSelection,omitempty" protobuf:"bytes,9,opt,name=zoneSelection"`
	// OwnerChecks was the guard against two seeds acting on one shoot. Ignored; last used by Gardener v1.75.
	// +optional
	OwnerChecks *SeedSettingOwnerChecks `json:"ownerChecks,omitempty" protobuf:"bytes,1001,opt,name=ownerChecks"`
	// ShootDNS enabled and disabled DNS names for shoots. Ignored; last used by Gardener v1.63.
	// +optional
	ShootDNS *SeedSettingShootDNS `json:"shootDNS,omitempty" protobuf:"bytes,1002,opt,name=shootDNS"`
}

// SeedSettingDependencyWatchdog configures the watchdog for components that depend on each other.
type SeedSettingDependencyWatchdog struct {
	// Prober scales controllers down while an API server cannot be reached by nodes.
	// +optional
	Prober *SeedSettingDependencyWatchdogProber `json:"prober,omitempty" protobuf:"bytes,4,opt,name=prober"`
	// Weeder restarts pods in a crash loop when a component that they depend on is available again.
	// +optional
	Weeder *SeedSettingDependencyWatchdogWeeder `json:"weeder,omitempty" protobuf:"bytes,3,opt,name=weeder"`
	// Endpoint was the former name of weeder. Ignored; last used by Gardener v1.83.
	// +optional
	Endpoint *SeedSettingDependencyWatchdogEndpoint `json:"endpoint,omitempty" protobuf:"bytes,1001,opt,name=endpoint"`
	// Probe was the former name of prober. Ignored; last used by Gardener v1.83.
	// +optional
	Probe *SeedSettingDependencyWatchdogProbe `json:"probe,omitempty" protobuf:"bytes,1002,opt,name=probe"`
}

// SeedSettingDependencyWatchdogProber enables or disables the prober.
type SeedSettingDependencyWatchdogProber struct {
	// Enabled enables it. Defaults to true when the object is absent.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingDependencyWatchdogWeeder enables or disables the weeder.
type SeedSettingDependencyWatchdogWeeder struct {
	// Enabled enables it. Defaults to true when the object is absent.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingDependencyWatchdogEndpoint is the former form of SeedSettingDependencyWatchdogWeeder.
type SeedSettingDependencyWatchdogEndpoint struct {
	// Enabled enabled it.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingDependencyWatchdogProbe is the former form of SeedSettingDependencyWatchdogProber.
type SeedSettingDependencyWatchdogProbe struct {
	// Enabled enabled it.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingExcessCapacityReservation reserves capacity for new control planes.
type SeedSettingExcessCapacityReservation struct {
	// Enabled enables the reservation. Defaults to true.
	// +optional
	Enabled *bool `json:"enabled,omitempty" protobuf:"varint,1,opt,name=enabled"`
	// Configs lists the reservations; by default, one of 2 CPUs and 6Gi of memory.
	// +optional
	Configs []SeedSettingExcessCapacityReservationConfig `json:"configs,omitempty" protobuf:"bytes,2,rep,name=configs"`
}

// SeedSettingExcessCapacityReservationConfig is a reservation.
type SeedSettingExcessCapacityReservationConfig struct {
	// Resources is the amount of each resource.
	Resources map[string]resource.Quantity `json:"resources" protobuf:"bytes,1,rep,name=resources"`
	// NodeSelector selects the nodes.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty" protobuf:"bytes,2,rep,name=nodeSelector"`
	// Tolerations lets the reservation use tainted nodes.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty" protobuf:"bytes,3,rep,name=tolerations"`
}

// SeedSettingLoadBalancerServices configures a seed's load balancers.
type SeedSettingLoadBalancerServices struct {
	// Annotations are put on the Services.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,1,rep,name=annotations"`
	// Class is the load balancer class. It never changes.
	// +optional
	Class *string `json:"class,omitempty" protobuf:"bytes,6,opt,name=class"`
	// ExternalTrafficPolicy is Cluster or Local.
	// +optional
	ExternalTrafficPolicy *ExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty" protobuf:"bytes,2,opt,name=externalTrafficPolicy"`
	// ProxyProtocol says whether load balancers pass on the address of the client.
	// +optional
	ProxyProtocol *LoadBalancerServicesProxyProtocol `json:"proxyProtocol,omitempty" protobuf:"bytes,4,opt,name=proxyProtocol"`
	// ZonalIngress says whether each zone has its own gateway.
	// +optional
	ZonalIngress *SeedSettingLoadBalancerServicesZonalIngress `json:"zonalIngress,omitempty" protobuf:"bytes,5,opt,name=zonalIngress"`
	// Zones holds settings for gateways of single zones.
	// +optional
	Zones []SeedSettingLoadBalancerServicesZones `json:"zones,omitempty" protobuf:"bytes,3,rep,name=zones"`
}

// LoadBalancerServicesProxyProtocol says whether load balancers pass on the address of the client.
type LoadBalancerServicesProxyProtocol struct {
	// Allowed says whether gateways accept such traffic, besides ordinary traffic.
	Allowed bool `json:"allowed" protobuf:"varint,1,opt,name=allowed"`
}

// SeedSettingLoadBalancerServicesZonalIngress says whether each zone has its own gateway.
type SeedSettingLoadBalancerServicesZonalIngress struct {
	// Enabled enables them. Defaults to true when the object is absent.
	// +optional
	Enabled *bool `json:"enabled,omitempty" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingLoadBalancerServicesZones holds settings for the gateway of a zone.
type SeedSettingLoadBalancerServicesZones struct {
	// Name is the zone.
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
	// Annotations are put on the Service.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty" protobuf:"bytes,2,rep,name=annotations"`
	// ExternalTrafficPolicy is Cluster or Local.
	// +optional
	ExternalTrafficPolicy *ExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty" protobuf:"bytes,3,opt,name=externalTrafficPolicy"`
	// ProxyProtocol says whether the load balancer passes on the address of the client.
	// +optional
	ProxyProtocol *LoadBalancerServicesProxyProtocol `json:"proxyProtocol,omitempty" protobuf:"bytes,4,opt,name=proxyProtocol"`
}

// SeedSettingPersistentVolumeClaimAutoscaler enlarges volumes automatically.
type SeedSettingPersistentVolumeClaimAutoscaler struct {
	// Enabled enables it.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingScheduling says whether the scheduler may choose a seed.
type SeedSettingScheduling struct {
	// Visible makes the seed visible to the scheduler; shoots that name the seed are not affected. Defaults to true when the object
	// is absent.
	Visible bool `json:"visible" protobuf:"varint,1,opt,name=visible"`
}

// SeedSettingTopologyAwareRouting keeps traffic within a zone.
type SeedSettingTopologyAwareRouting struct {
	// Enabled enables it; only useful on seeds with several zones.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingVerticalPodAutoscaler configures a seed's own autoscaler of pods.
type SeedSettingVerticalPodAutoscaler struct {
	// Enabled installs it; it is false for a seed with its own autoscaler. Defaults to true when the object is absent.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
	// FeatureGates enables or disables its features.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty" protobuf:"bytes,2,rep,name=featureGates"`
	// MaxAllowed limits what it may recommend for a container.
	// +optional
	MaxAllowed map[string]resource.Quantity `json:"maxAllowed,omitempty" protobuf:"bytes,3,rep,name=maxAllowed"`
}

// SeedSettingZoneSelection says how the zones of control planes are chosen.
type SeedSettingZoneSelection struct {
	// Mode is Prefer or Enforce.
	Mode ZoneSelectionMode `json:"mode" protobuf:"bytes,1,opt,name=mode"`
}

// ZoneSelectionMode says how the zones of a shoot's workers are considered when those of its control plane are chosen.
type ZoneSelectionMode string

const (
	// ZoneSelectionModePrefer prefers seeds with these zones.
	ZoneSelectionModePrefer ZoneSelectionMode = "Prefer"
	// ZoneSelectionModeEnforce takes only seeds with these zones.
	ZoneSelectionModeEnforce ZoneSelectionMode = "Enforce"
)

// SeedSettingOwnerChecks was the guard against two seeds acting on one shoot.
type SeedSettingOwnerChecks struct {
	// Enabled enabled it.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingShootDNS enabled and disabled DNS names for shoots.
type SeedSettingShootDNS struct {
	// Enabled enabled them.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}
