// SPDX-License-Identifier: Apache-2.0

package v1beta1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TestWholeSeed compares all that is filled in for a seed of which nothing is said, and for one that says no.
func TestWholeSeed(t *testing.T) {
	t.Parallel()
	type (
		seed     = gardencorev1beta1.Seed
		settings = gardencorev1beta1.SeedSettings
		watchdog = gardencorev1beta1.SeedSettingDependencyWatchdog
		reserved = gardencorev1beta1.SeedSettingExcessCapacityReservation
		balanced = gardencorev1beta1.SeedSettingLoadBalancerServices
		zonal    = gardencorev1beta1.SeedSettingLoadBalancerServicesZonalIngress
	)
	of := func(s settings) *seed {
		return &seed{Spec: gardencorev1beta1.SeedSpec{
			Networks: gardencorev1beta1.SeedNetworks{IPFamilies: []gardencorev1beta1.IPFamily{"IPv4"}}, Settings: &s,
		}}
	}
	off := settings{
		ExcessCapacityReservation:       &reserved{Enabled: new(false)},
		Scheduling:                      &gardencorev1beta1.SeedSettingScheduling{Visible: false},
		LoadBalancerServices:            &balanced{ZonalIngress: &zonal{Enabled: new(false)}},
		VerticalPodAutoscaler:           &gardencorev1beta1.SeedSettingVerticalPodAutoscaler{Enabled: false},
		TopologyAwareRouting:            &gardencorev1beta1.SeedSettingTopologyAwareRouting{Enabled: true},
		PersistentVolumeClaimAutoscaler: &gardencorev1beta1.SeedSettingPersistentVolumeClaimAutoscaler{Enabled: true},
		DependencyWatchdog: &watchdog{
			Weeder: &gardencorev1beta1.SeedSettingDependencyWatchdogWeeder{Enabled: false}, Prober: &gardencorev1beta1.SeedSettingDependencyWatchdogProber{Enabled: false},
		},
	}
	for name, tc := range map[string]struct {
		reason      string
		given, want *seed
	}{
		"API-DEF-14 nothing": {"every setting that is left out is filled in", &seed{}, of(settings{
			ExcessCapacityReservation: &reserved{Configs: []gardencorev1beta1.SeedSettingExcessCapacityReservationConfig{
				{Resources: map[string]resource.Quantity{"cpu": resource.MustParse("2"), "memory": resource.MustParse("6Gi")}},
			}},
			Scheduling:                      &gardencorev1beta1.SeedSettingScheduling{Visible: true},
			LoadBalancerServices:            &balanced{ZonalIngress: &zonal{Enabled: new(true)}},
			VerticalPodAutoscaler:           &gardencorev1beta1.SeedSettingVerticalPodAutoscaler{Enabled: true},
			TopologyAwareRouting:            &gardencorev1beta1.SeedSettingTopologyAwareRouting{},
			PersistentVolumeClaimAutoscaler: &gardencorev1beta1.SeedSettingPersistentVolumeClaimAutoscaler{},
			DependencyWatchdog: &watchdog{
				Weeder: &gardencorev1beta1.SeedSettingDependencyWatchdogWeeder{Enabled: true}, Prober: &gardencorev1beta1.SeedSettingDependencyWatchdogProber{Enabled: true},
			},
		})},
		"API-DEF-14 said": {"what is said stays, also where it is no", of(off), of(off)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.given.DeepCopy()
			gardencorev1beta1.SetDefaultsSeed(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWholeProject compares all that is filled in for the members of a project and for that of operators.
func TestWholeProject(t *testing.T) {
	t.Parallel()
	type project = gardencorev1beta1.Project
	of := func(s gardencorev1beta1.ProjectSpec) *project { return &project{Spec: s} }
	member := func(kind, group, role string, more ...string) gardencorev1beta1.ProjectMember {
		return gardencorev1beta1.ProjectMember{Subject: rbacv1.Subject{Kind: kind, Name: "a", APIGroup: group}, Role: role, Roles: more}
	}
	protected := []gardencorev1beta1.Toleration{{Key: "seed.gardener.cloud/protected"}}
	for name, tc := range map[string]struct {
		reason      string
		given, want *project
	}{
		"API-DEF-13 members": {
			"each kind of subject has its group, each member a role",
			of(gardencorev1beta1.ProjectSpec{
				Owner: &rbacv1.Subject{Kind: "User", Name: "a"}, CreatedBy: &rbacv1.Subject{Kind: "ServiceAccount", Name: "a"},
				Members: []gardencorev1beta1.ProjectMember{member("User", "", ""), member("Group", "", "admin", "uam"), member("ServiceAccount", "", "", "owner", "admin")},
			}),
			of(gardencorev1beta1.ProjectSpec{
				Owner: &rbacv1.Subject{Kind: "User", Name: "a", APIGroup: rbacv1.GroupName}, CreatedBy: &rbacv1.Subject{Kind: "ServiceAccount", Name: "a"},
				Members: []gardencorev1beta1.ProjectMember{
					member("User", rbacv1.GroupName, "viewer"), member("Group", rbacv1.GroupName, "admin", "uam"), member("ServiceAccount", "", "owner", "admin"),
				},
			}),
		},
		"API-DEF-3 garden": {
			"the project of operators may use protected seeds",
			of(gardencorev1beta1.ProjectSpec{Namespace: new("garden")}),
			of(gardencorev1beta1.ProjectSpec{Namespace: new("garden"), Tolerations: &gardencorev1beta1.ProjectTolerations{Defaults: protected, Whitelist: protected}}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tc.given.DeepCopy()
			gardencorev1beta1.SetDefaultsProject(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWholeControllerRegistration compares all that is filled in for the kinds that have defaults of their own, and for
// one that has none.
func TestWholeControllerRegistration(t *testing.T) {
	t.Parallel()
	type resourceOf = gardencorev1beta1.ControllerResource
	given := &gardencorev1beta1.ControllerRegistration{Spec: gardencorev1beta1.ControllerRegistrationSpec{
		Resources:  []resourceOf{{Kind: "Extension"}, {Kind: "SelfHostedShootExposure"}, {Kind: "Network", Primary: new(false)}},
		Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{},
	}}
	after, before := gardencorev1beta1.ControllerResourceLifecycleStrategyAfterKubeAPIServer, gardencorev1beta1.ControllerResourceLifecycleStrategyBeforeKubeAPIServer
	onDemand := gardencorev1beta1.ControllerDeploymentPolicyOnDemand
	want := gardencorev1beta1.ControllerRegistrationSpec{
		Resources: []resourceOf{
			{
				Kind: "Extension", Primary: new(true), ReconcileTimeout: &metav1.Duration{Duration: 3 * time.Minute},
				Lifecycle:            &gardencorev1beta1.ControllerResourceLifecycle{Reconcile: &after, Delete: &before, Migrate: &before},
				ClusterCompatibility: []gardencorev1beta1.ClusterType{"shoot"},
			},
			{Kind: "SelfHostedShootExposure", Primary: new(true), ContinuousEndpointUpdate: new(true)},
			{Kind: "Network", Primary: new(false)},
		},
		Deployment: &gardencorev1beta1.ControllerRegistrationDeployment{Policy: &onDemand},
	}
	gardencorev1beta1.SetDefaultsControllerRegistration(given)
	if diff := cmp.Diff(want, given.Spec); diff != "" {
		t.Errorf("API-DEF-16: each kind has its defaults, and no others (-want +got):\n%s", diff)
	}
}

// TestWholeCloudProfile compares all that is filled in for a profile with capabilities and for one without.
func TestWholeCloudProfile(t *testing.T) {
	t.Parallel()
	type profile = gardencorev1beta1.CloudProfileSpec
	major := gardencorev1beta1.MachineImageUpdateStrategyMajor
	containerd := []gardencorev1beta1.CRI{{Name: "containerd"}}
	bare := func(definitions ...gardencorev1beta1.CapabilityDefinition) profile {
		return profile{
			MachineImages:       []gardencorev1beta1.MachineImage{{Name: "os", Versions: []gardencorev1beta1.MachineImageVersion{{}}}},
			MachineTypes:        []gardencorev1beta1.MachineType{{Name: "small"}, {Name: "closed", Usable: new(false)}},
			VolumeTypes:         []gardencorev1beta1.VolumeType{{Name: "fast"}},
			MachineCapabilities: definitions,
		}
	}
	filled := func(architectures []string, architecture *string, definitions ...gardencorev1beta1.CapabilityDefinition) profile {
		return profile{
			MachineImages: []gardencorev1beta1.MachineImage{{
				Name: "os", UpdateStrategy: &major, Versions: []gardencorev1beta1.MachineImageVersion{{Architectures: architectures, CRI: containerd}},
			}},
			MachineTypes: []gardencorev1beta1.MachineType{
				{Name: "small", Usable: new(true), Architecture: architecture}, {Name: "closed", Usable: new(false), Architecture: architecture},
			},
			VolumeTypes:         []gardencorev1beta1.VolumeType{{Name: "fast", Usable: new(true)}},
			MachineCapabilities: definitions,
		}
	}
	defined := gardencorev1beta1.CapabilityDefinition{Name: "architecture", Values: []string{"arm64"}}
	for name, tc := range map[string]struct {
		reason      string
		given, want profile
	}{
		"API-DEF-15 plain":        {"what is offered is for amd64, with containerd, and can be used", bare(), filled([]string{"amd64"}, new("amd64"))},
		"API-DEF-15 capabilities": {"capabilities tell the architecture", bare(defined), filled(nil, nil, defined)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := &gardencorev1beta1.CloudProfile{Spec: *tc.given.DeepCopy()}
			gardencorev1beta1.SetDefaultsCloudProfile(got)
			if diff := cmp.Diff(tc.want, got.Spec); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
