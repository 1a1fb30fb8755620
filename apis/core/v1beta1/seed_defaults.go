// SPDX-License-Identifier: Apache-2.0

package v1beta1

import "k8s.io/apimachinery/pkg/api/resource"

// SetDefaultsSeed sets the defaults of a seed's settings (API-DEF-14).
func SetDefaultsSeed(s *Seed) {
	if len(s.Spec.Networks.IPFamilies) == 0 {
		s.Spec.Networks.IPFamilies = []IPFamily{IPFamilyIPv4}
	}
	set := ensure(&s.Spec.Settings)
	defaultReservation(ensure(&set.ExcessCapacityReservation))
	setDefault(&set.Scheduling, SeedSettingScheduling{Visible: true})
	setDefault(&ensure(&set.LoadBalancerServices).ZonalIngress, SeedSettingLoadBalancerServicesZonalIngress{Enabled: new(true)})
	setDefault(&set.VerticalPodAutoscaler, SeedSettingVerticalPodAutoscaler{Enabled: true})
	watchdog := ensure(&set.DependencyWatchdog)
	setDefault(&watchdog.Weeder, SeedSettingDependencyWatchdogWeeder{Enabled: true})
	setDefault(&watchdog.Prober, SeedSettingDependencyWatchdogProber{Enabled: true})
	ensure(&set.TopologyAwareRouting)
	ensure(&set.PersistentVolumeClaimAutoscaler)
}

// defaultReservation reserves capacity for one more control plane, unless the reservation is disabled.
func defaultReservation(r *SeedSettingExcessCapacityReservation) {
	if len(r.Configs) > 0 || r.Enabled != nil && !*r.Enabled {
		return
	}
	r.Configs = []SeedSettingExcessCapacityReservationConfig{{Resources: map[string]resource.Quantity{
		"cpu": resource.MustParse("2"), "memory": resource.MustParse("6Gi"),
	}}}
}
