// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/apiserver"
)

// TestAsked looks at the ends of both chains; what is between is the garden's own, whose order is tried with the rules.
func TestAsked(t *testing.T) {
	t.Parallel()
	const mutatingPolicy = "MutatingAdmissionPolicy"
	cases := map[string]struct {
		reason string
		config gardenconfigv1alpha1.AdmissionConfiguration
		last   []string
		lacks  string
	}{
		"Default": {
			reason: "API-ADM-1, API-ADM-2: what users add comes after the rules of the garden, quotas come last, and policies that change objects are off.",
			last:   []string{"MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota"},
			lacks:  mutatingPolicy,
		},
		"Enabled": {
			reason: "API-ADM-2: the configuration turns them on.",
			config: gardenconfigv1alpha1.AdmissionConfiguration{Enable: []string{mutatingPolicy}},
			last:   []string{mutatingPolicy, "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota"},
		},
		"Both": {
			reason: "What is enabled and disabled is asked, as with the garden's own rules.",
			config: gardenconfigv1alpha1.AdmissionConfiguration{Enable: []string{mutatingPolicy}, Disable: []string{mutatingPolicy}},
			last:   []string{mutatingPolicy, "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota"},
		},
		"Disabled": {
			reason: "API-ADM-2: others can be turned off.",
			config: gardenconfigv1alpha1.AdmissionConfiguration{Disable: []string{"ResourceQuota"}},
			last:   []string{"MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"},
			lacks:  mutatingPolicy,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := apiserver.NewConfig()
			c.GardenAdmission, c.KubeAdmission = admission.Asked(admission.GardenRules(&tc.config, admission.Projects{}), &tc.config), admission.Asked(admission.KubeRules(&tc.config), &tc.config)
			c.AdmissionOn, c.AdmissionOff = tc.config.Enable, tc.config.Disable
			garden, kube := c.Asked()
			for server, all := range map[string][]string{"garden": garden, "kube": kube} {
				if all[0] != "NamespaceLifecycle" {
					t.Errorf("API-ADM-1: the life of the namespace is asked about first in the chain of the %s server, got %q", server, all[0])
				}
				if at := slices.Index(all, "ObjectCreation"); at < 1 || at > slices.Index(all, "SeedRestriction") {
					t.Errorf("API-ADM-6: what every rule relies on is asked before all rules in the chain of the %s server, got %q", server, all)
				}
				if diff := cmp.Diff(tc.last, all[len(all)-len(tc.last):]); diff != "" {
					t.Errorf("%s\nchain of the %s server ends with (-want +got):\n%s", tc.reason, server, diff)
				}
				if tc.lacks != "" && slices.Contains(all, tc.lacks) {
					t.Errorf("%s\nchain of the %s server holds %q", tc.reason, server, tc.lacks)
				}
			}
		})
	}
}
