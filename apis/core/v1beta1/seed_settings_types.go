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
	DependencyWatchdog *SeedSettingDependencyWatchdog `json:"dependencyWatchdog,omitempty" protobuf:"bytes,7,opt,name=dependencyWatchdog"`
	// ExcessCapacityReservation keeps room for new control planes.
	// +optional
	ExcessCapacityReservation *SeedSettingExcessCapacityReservation `json:"excessCapacityReservation,omitempty" protobuf:"bytes,1,opt,name=excessCapacityReservation"`
	// LoadBalancerServices configures the seed's load balancers.
	// +optional
	LoadBalancerServices *SeedSettingLoadBalancerServices `json:"loadBalancerServices,omitempty" protobuf:"bytes,4,opt,name=loadBalancerServices"`
	// PersistentVolumeClaimAutoscaler lets volumes grow.
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
	// ShootDNS turned names for shoots on and off. Ignored; last used by Gardener v1.63.
	// +optional
	ShootDNS *SeedSettingShootDNS `json:"shootDNS,omitempty" protobuf:"bytes,1002,opt,name=shootDNS"`
}

// SeedSettingDependencyWatchdog configures the watch over components that depend on one another.
type SeedSettingDependencyWatchdog struct {
	// Prober scales controllers down while an API server cannot be reached by nodes.
	// +optional
	Prober *SeedSettingDependencyWatchdogProber `json:"prober,omitempty" protobuf:"bytes,4,opt,name=prober"`
	// Weeder restarts pods that crash because something they need came back.
	// +optional
	Weeder *SeedSettingDependencyWatchdogWeeder `json:"weeder,omitempty" protobuf:"bytes,3,opt,name=weeder"`
	// Endpoint was the former name of weeder. Ignored; last used by Gardener v1.83.
	// +optional
	Endpoint *SeedSettingDependencyWatchdogEndpoint `json:"endpoint,omitempty" protobuf:"bytes,1001,opt,name=endpoint"`
	// Probe was the former name of prober. Ignored; last used by Gardener v1.83.
	// +optional
	Probe *SeedSettingDependencyWatchdogProbe `json:"probe,omitempty" protobuf:"bytes,1002,opt,name=probe"`
}

// SeedSettingDependencyWatchdogProber turns the prober on or off.
type SeedSettingDependencyWatchdogProber struct {
	// Enabled turns it on. Defaults to true when the object is absent.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingDependencyWatchdogWeeder turns the weeder on or off.
type SeedSettingDependencyWatchdogWeeder struct {
	// Enabled turns it on. Defaults to true when the object is absent.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingDependencyWatchdogEndpoint is the former form of SeedSettingDependencyWatchdogWeeder.
type SeedSettingDependencyWatchdogEndpoint struct {
	// Enabled turned it on.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingDependencyWatchdogProbe is the former form of SeedSettingDependencyWatchdogProber.
type SeedSettingDependencyWatchdogProbe struct {
	// Enabled turned it on.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingExcessCapacityReservation keeps room for new control planes.
type SeedSettingExcessCapacityReservation struct {
	// Enabled turns the reservation on. Defaults to true.
	// +optional
	Enabled *bool `json:"enabled,omitempty" protobuf:"varint,1,opt,name=enabled"`
	// Configs say how much is reserved where; one of 2 processors and 6Gi of memory by default.
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
	// ProxyProtocol says whether load balancers tell the address of the client.
	// +optional
	ProxyProtocol *LoadBalancerServicesProxyProtocol `json:"proxyProtocol,omitempty" protobuf:"bytes,4,opt,name=proxyProtocol"`
	// ZonalIngress says whether each zone has a gateway of its own.
	// +optional
	ZonalIngress *SeedSettingLoadBalancerServicesZonalIngress `json:"zonalIngress,omitempty" protobuf:"bytes,5,opt,name=zonalIngress"`
	// Zones holds settings for gateways of single zones.
	// +optional
	Zones []SeedSettingLoadBalancerServicesZones `json:"zones,omitempty" protobuf:"bytes,3,rep,name=zones"`
}

// LoadBalancerServicesProxyProtocol says whether load balancers tell the address of the client.
type LoadBalancerServicesProxyProtocol struct {
	// Allowed says whether gateways accept such traffic, besides ordinary traffic.
	Allowed bool `json:"allowed" protobuf:"varint,1,opt,name=allowed"`
}

// SeedSettingLoadBalancerServicesZonalIngress says whether each zone has a gateway of its own.
type SeedSettingLoadBalancerServicesZonalIngress struct {
	// Enabled says so. Defaults to true when the object is absent.
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
	// ProxyProtocol says whether the load balancer tells the address of the client.
	// +optional
	ProxyProtocol *LoadBalancerServicesProxyProtocol `json:"proxyProtocol,omitempty" protobuf:"bytes,4,opt,name=proxyProtocol"`
}

// SeedSettingPersistentVolumeClaimAutoscaler lets volumes grow.
type SeedSettingPersistentVolumeClaimAutoscaler struct {
	// Enabled turns it on.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingScheduling says whether the scheduler may choose a seed.
type SeedSettingScheduling struct {
	// Visible says so; shoots that name the seed are not affected. Defaults to true when the object is absent.
	Visible bool `json:"visible" protobuf:"varint,1,opt,name=visible"`
}

// SeedSettingTopologyAwareRouting keeps traffic within a zone.
type SeedSettingTopologyAwareRouting struct {
	// Enabled turns it on; only useful on seeds with several zones.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingVerticalPodAutoscaler configures a seed's own autoscaler of pods.
type SeedSettingVerticalPodAutoscaler struct {
	// Enabled installs it; a seed that brings its own says false. Defaults to true when the object is absent.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
	// FeatureGates turns its features on or off.
	// +optional
	FeatureGates map[string]bool `json:"featureGates,omitempty" protobuf:"bytes,2,rep,name=featureGates"`
	// MaxAllowed bounds what it may recommend for a container.
	// +optional
	MaxAllowed map[string]resource.Quantity `json:"maxAllowed,omitempty" protobuf:"bytes,3,rep,name=maxAllowed"`
}

// SeedSettingZoneSelection says how the zones of control planes are chosen.
type SeedSettingZoneSelection struct {
	// Mode is Prefer or Enforce.
	Mode ZoneSelectionMode `json:"mode" protobuf:"bytes,1,opt,name=mode"`
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
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}

// SeedSettingShootDNS turned names for shoots on and off.
type SeedSettingShootDNS struct {
	// Enabled turned them on.
	Enabled bool `json:"enabled" protobuf:"varint,1,opt,name=enabled"`
}
