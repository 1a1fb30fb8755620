// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
)

// TestWhatIsProtected_GRM_WH_DEL_1 lists of what a seed asks before it is deleted. Bastions, Clusters and SelfHostedShootExposures are
// left out on purpose.
func TestWhatIsProtected_GRM_WH_DEL_1(t *testing.T) {
	t.Parallel()
	asked := map[string][]string{}
	for _, object := range webhooks.Configuration(webhooks.Values{}) {
		configuration, ok := object.(*admissionregistrationv1.ValidatingWebhookConfiguration)
		if !ok {
			continue
		}
		for _, hook := range configuration.Webhooks {
			for _, rule := range hook.Rules {
				if slices.Contains(rule.Operations, admissionregistrationv1.Delete) {
					asked[rule.APIGroups[0]+" "+metav1.FormatLabelSelector(hook.ObjectSelector)] = rule.Resources
				}
			}
			if *hook.FailurePolicy != admissionregistrationv1.Fail {
				t.Errorf("webhook %q lets pass what nobody has judged", hook.Name)
			}
		}
	}
	want := map[string][]string{
		"apiextensions.k8s.io gardener.cloud/deletion-protected=true": {"customresourcedefinitions"},
		"druid.gardener.cloud <none>":                                 {"etcds"},
		"extensions.gardener.cloud <none>": {
			"backupbuckets", "backupentries", "containerruntimes", "controlplanes", "dnsrecords", "extensions", "infrastructures", "networks",
			"operatingsystemconfigs", "workers",
		},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("what is asked about (-want +got):\n%s", diff)
	}
}
