// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func TestValidateSeedFields(t *testing.T) {
	t.Parallel()
	settings := func(set gardencorev1beta1.SeedSettings) func(*gardencorev1beta1.Seed) {
		return func(s *gardencorev1beta1.Seed) { s.Spec.Settings = &set }
	}
	tolerating := func(all ...corev1.Toleration) func(*gardencorev1beta1.Seed) {
		return settings(gardencorev1beta1.SeedSettings{ExcessCapacityReservation: &gardencorev1beta1.SeedSettingExcessCapacityReservation{
			Configs: []gardencorev1beta1.SeedSettingExcessCapacityReservationConfig{{Resources: map[string]resource.Quantity{"cpu": resource.MustParse("1")}, Tolerations: all}},
		}})
	}
	const tolerations = "spec.settings.excessCapacityReservation.configs[0].tolerations"
	type change = func(*gardencorev1beta1.Seed)
	for name, tc := range map[string]struct {
		reason string
		change change
		want   []string
	}{
		"API-VALSEED-3 internal": {reason: "machines find their API servers under an internal domain", change: func(s *gardencorev1beta1.Seed) { s.Spec.DNS.Internal = nil }, want: []string{"spec.dns.internal: FieldValueRequired"}},
		"API-VALSEED-1 no ingress": {
			reason: "components of a seed are reached under a domain", change: func(s *gardencorev1beta1.Seed) { s.Spec.Ingress = nil },
			want: []string{"spec.ingress: FieldValueRequired"},
		},
		"API-VALSEED-1 unannounced": {
			reason: "which somebody makes known", change: func(s *gardencorev1beta1.Seed) { s.Spec.DNS.Provider = nil },
			want: []string{"spec.dns.provider: FieldValueRequired"},
		},
		"API-VALSEED-1 credentials": {
			reason: "a reference to credentials is complete and possible",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.DNS.Internal.CredentialsRef = corev1.ObjectReference{APIVersion: "v2", Kind: "Secret", Namespace: "Garden", Name: "a_b"}
			},
			want: []string{
				"spec.dns.internal.credentialsRef.name: FieldValueInvalid", "spec.dns.internal.credentialsRef.namespace: FieldValueInvalid",
				"spec.dns.internal.credentialsRef: FieldValueNotSupported",
			},
		},
		"API-VALSEED-1 internal secret": {
			reason: "InternalSecrets hold credentials too",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: &corev1.ObjectReference{
					APIVersion: "core.gardener.cloud/v1beta1", Kind: "InternalSecret", Namespace: "garden", Name: "backup",
				}}
			},
		},
		"API-VALSEED-1 shoot defaults": {
			reason: "the ranges of shoots are apart from those of the seed, and of its family",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Networks.ShootDefaults = &gardencorev1beta1.ShootNetworks{Pods: new("10.98.1.0/24"), Services: new("2001:db8::/48")}
			},
			want: []string{"spec.networks.shootDefaults.pods: FieldValueInvalid", "spec.networks.shootDefaults.services: FieldValueInvalid"},
		},
		"API-VALSHOOT-11 reserved": {
			reason: "the tunnel has ranges of its own", change: func(s *gardencorev1beta1.Seed) { s.Spec.Networks.Pods = "240.0.0.0/16" },
			want: []string{"spec.networks.pods: FieldValueInvalid"},
		},
		"API-VALSEED-1 family": {
			reason: "without a known family ranges cannot be judged",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Networks.IPFamilies, s.Spec.Networks.Pods = []gardencorev1beta1.IPFamily{"IPv5"}, "nonsense"
			},
			want: []string{"spec.networks.ipFamilies[0]: FieldValueNotSupported"},
		},
		"extensions": {
			reason: "extensions of a seed have a type, stand once and cannot be turned off",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "a"}, {Type: "a", Disabled: new(false)}, {Type: "A"}, {}}
			},
			want: []string{
				"spec.extensions[1].disabled: FieldValueForbidden", "spec.extensions[1].type: FieldValueDuplicate",
				"spec.extensions[2].type: FieldValueInvalid", "spec.extensions[3].type: FieldValueRequired",
			},
		},
		"load balancers": {
			reason: "load balancers are set up in ways that exist",
			change: func(s *gardencorev1beta1.Seed) {
				s.Spec.Provider.Zones = []string{"a", "b"}
				policy := gardencorev1beta1.ExternalTrafficPolicy("Remote")
				settings(gardencorev1beta1.SeedSettings{LoadBalancerServices: &gardencorev1beta1.SeedSettingLoadBalancerServices{
					ExternalTrafficPolicy: &policy, Class: new("no class"), Annotations: map[string]string{"a b": "c"},
					Zones: []gardencorev1beta1.SeedSettingLoadBalancerServicesZones{{Name: "a"}, {Name: "a", ExternalTrafficPolicy: &policy}},
				}})(s)
			},
			want: []string{
				"spec.settings.loadBalancerServices.annotations: FieldValueInvalid", "spec.settings.loadBalancerServices.class: FieldValueInvalid",
				"spec.settings.loadBalancerServices.externalTrafficPolicy: FieldValueNotSupported",
				"spec.settings.loadBalancerServices.zones[1].externalTrafficPolicy: FieldValueNotSupported",
				"spec.settings.loadBalancerServices.zones[1].name: FieldValueDuplicate",
			},
		},
		"autoscaler": {
			reason: "the autoscaler recommends processors and memory",
			change: settings(gardencorev1beta1.SeedSettings{VerticalPodAutoscaler: &gardencorev1beta1.SeedSettingVerticalPodAutoscaler{
				MaxAllowed:   map[string]resource.Quantity{"cpu": resource.MustParse("-1"), "memory": resource.MustParse("1Gi"), "storage": resource.MustParse("1Gi")},
				FeatureGates: map[string]bool{"InPlaceOrRecreate": true, "Sing": true},
			}}),
			want: []string{
				"spec.settings.verticalPodAutoscaler.featureGates.Sing: FieldValueInvalid",
				"spec.settings.verticalPodAutoscaler.maxAllowed.cpu: FieldValueInvalid", "spec.settings.verticalPodAutoscaler.maxAllowed.storage: FieldValueNotSupported",
			},
		},
		"zone selection": {
			reason: "zones are chosen in a known way",
			change: settings(gardencorev1beta1.SeedSettings{ZoneSelection: &gardencorev1beta1.SeedSettingZoneSelection{Mode: "Dice"}}),
			want:   []string{"spec.settings.zoneSelection.mode: FieldValueNotSupported"},
		},
		"reservation": {
			reason: "a reservation is of something",
			change: settings(gardencorev1beta1.SeedSettings{ExcessCapacityReservation: &gardencorev1beta1.SeedSettingExcessCapacityReservation{
				Configs: []gardencorev1beta1.SeedSettingExcessCapacityReservationConfig{{}},
			}}),
			want: []string{"spec.settings.excessCapacityReservation.configs[0].resources: FieldValueRequired"},
		},
		"tolerations of all": {
			reason: "all taints can be tolerated, and some for a while",
			change: tolerating(
				corev1.Toleration{Operator: corev1.TolerationOpExists},
				corev1.Toleration{Key: "a", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(1))},
			),
		},
		"nodes": {
			reason: "a reservation selects nodes by labels",
			change: settings(gardencorev1beta1.SeedSettings{ExcessCapacityReservation: &gardencorev1beta1.SeedSettingExcessCapacityReservation{
				Configs: []gardencorev1beta1.SeedSettingExcessCapacityReservationConfig{{
					Resources: map[string]resource.Quantity{"cpu": resource.MustParse("1")}, NodeSelector: map[string]string{"a": "not a value"},
				}},
			}}),
			want: []string{"spec.settings.excessCapacityReservation.configs[0].nodeSelector: FieldValueInvalid"},
		},
		"tolerations": {
			reason: "a reservation tolerates as pods do",
			change: tolerating(
				corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists}, corev1.Toleration{Key: "a", Value: "b", Effect: corev1.TaintEffectNoSchedule},
				corev1.Toleration{Key: "a b"}, corev1.Toleration{Operator: corev1.TolerationOpEqual}, corev1.Toleration{Key: "a", Operator: corev1.TolerationOpExists, Value: "b"},
				corev1.Toleration{Key: "a", Operator: "Lt"}, corev1.Toleration{Key: "a", Effect: "Sometimes"},
				corev1.Toleration{Key: "a", Effect: corev1.TaintEffectNoSchedule, TolerationSeconds: new(int64(1))},
			),
			want: []string{
				tolerations + "[2].key: FieldValueInvalid", tolerations + "[3].operator: FieldValueInvalid", tolerations + "[4].operator: FieldValueInvalid",
				tolerations + "[5].operator: FieldValueNotSupported", tolerations + "[6].effect: FieldValueNotSupported", tolerations + "[7].effect: FieldValueInvalid",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateSeed(seed(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateSeed(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateSeedTemplate(t *testing.T) {
	t.Parallel()
	path := field.NewPath("seedConfig")
	internal := seed().Spec.DNS.Internal
	template := &gardencorev1beta1.SeedTemplate{Spec: gardencorev1beta1.SeedSpec{DNS: gardencorev1beta1.SeedDNS{Internal: internal}}}
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateSeedTemplate(template, path))); diff != "" {
		t.Errorf("a template leaves to the shoot what follows from it\nValidateSeedTemplate(...) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"seedConfig.spec.dns.internal: FieldValueRequired"}, checktest.Complaints(validation.ValidateSeedTemplate(&gardencorev1beta1.SeedTemplate{}, path))); diff != "" {
		t.Errorf("but not the internal domain\nValidateSeedTemplate(...) (-want +got):\n%s", diff)
	}
	given := template.DeepCopy()
	given.Spec.Networks.Pods, given.Spec.Networks.Services = "nonsense", "nonsense"
	given.Spec.DNS.Provider, given.Spec.Ingress = seed().Spec.DNS.Provider, &gardencorev1beta1.Ingress{Domain: "example.org"}
	want := []string{
		"seedConfig.spec.ingress.controller.kind: FieldValueNotSupported", "seedConfig.spec.networks.pods: FieldValueInvalid", "seedConfig.spec.networks.services: FieldValueInvalid",
	}
	if diff := cmp.Diff(want, checktest.Complaints(validation.ValidateSeedTemplate(given, path))); diff != "" {
		t.Errorf("what it gives is checked as in a seed\nValidateSeedTemplate(...) (-want +got):\n%s", diff)
	}
	moved := template.DeepCopy()
	moved.Spec.Networks.Pods = "10.0.0.0/16"
	if diff := cmp.Diff([]string{"seedConfig.spec.networks.pods: FieldValueInvalid"}, checktest.Complaints(validation.ValidateSeedTemplateUpdate(moved, template, path))); diff != "" {
		t.Errorf("what never changes in a seed never changes in its template\nValidateSeedTemplateUpdate(...) (-want +got):\n%s", diff)
	}
}
