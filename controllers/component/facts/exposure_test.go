// SPDX-License-Identifier: Apache-2.0

package facts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

func TestExposureBy(t *testing.T) {
	t.Parallel()
	settings := &gardencorev1beta1.SeedSettings{LoadBalancerServices: &gardencorev1beta1.SeedSettingLoadBalancerServices{
		Annotations: map[string]string{"size": "small", "zone": "a"}, Class: new("seeds"),
		ExternalTrafficPolicy: new(gardencorev1beta1.ExternalTrafficPolicyLocal),
	}}
	for name, tc := range map[string]struct {
		reason   string
		settings *gardencorev1beta1.SeedSettings
		handler  *gardenconfigv1alpha1.LoadBalancerServiceConfig
		want     facts.Exposure
	}{
		"Nothing": {
			reason: "a seed without settings leaves all to its cluster",
			want:   facts.Exposure{Annotations: map[string]string{}},
		},
		"Seed": {
			reason: "all load balancers of a seed have its settings", settings: settings,
			want: facts.Exposure{Annotations: map[string]string{"size": "small", "zone": "a"}, Class: new("seeds"), TrafficPolicy: "Local"},
		},
		"Handler": {
			reason: "what the handler does not say is as in the rest of the seed", settings: settings,
			handler: &gardenconfigv1alpha1.LoadBalancerServiceConfig{Annotations: map[string]string{"size": "big", "internal": "true"}},
			want: facts.Exposure{
				Annotations: map[string]string{"size": "big", "zone": "a", "internal": "true"}, Class: new("seeds"), TrafficPolicy: "Local",
			},
		},
		"HandlerClass": {
			reason: "a handler may have a class of its own", settings: settings,
			handler: &gardenconfigv1alpha1.LoadBalancerServiceConfig{Class: new("inside")},
			want:    facts.Exposure{Annotations: map[string]string{"size": "small", "zone": "a"}, Class: new("inside"), TrafficPolicy: "Local"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := facts.ExposureBy(&gardencorev1beta1.Seed{Spec: gardencorev1beta1.SeedSpec{Settings: tc.settings}}, tc.handler)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nExposureBy(...): -want +got\n%s", tc.reason, diff)
			}
		})
	}
	if settings.LoadBalancerServices.Annotations["size"] != "small" {
		t.Error("ExposureBy(...) changed the settings of the seed")
	}
}
