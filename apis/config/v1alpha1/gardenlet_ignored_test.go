// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

func TestGardenletIgnored(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		fields string
		want   []string
	}{
		"Nothing":  {reason: "defaults are nobody's wish", fields: "seedConfig: {metadata: {name: a}}"},
		"Default":  {reason: "nor is a default that is written out", fields: "controllers: {backupBucket: {concurrentSyncs: 20}}"},
		"Unwanted": {reason: "what is not wanted is not done", fields: "monitoring: {shoot: {enabled: false}}\ndebugging: {enableProfiling: false}"},
		"Acted on": {reason: "what somebody acts on is not told", fields: "controllers: {shoot: {concurrentSyncs: 3}}\nlogLevel: debug\nnodeToleration: {defaultNotReadyTolerationSeconds: 3}"},
		"Handler": {
			reason: "of a list, those entries count that have the field",
			fields: "exposureClassHandlers: [{name: a, loadBalancerService: {annotations: {a: b}}}]",
		},
		"Gateway": {
			reason: "there is no gateway that a handler could describe",
			fields: "exposureClassHandlers: [{name: a, loadBalancerService: {annotations: {}}}, {name: b, loadBalancerService: {annotations: {}}, sni: {ingress: {}}}]",
			want:   []string{"exposureClassHandlers[].sni"},
		},
		"Section": {reason: "a section is told by its name", fields: "monitoring: {shoot: {externalLabels: {a: b}}}", want: []string{"monitoring"}},
		"Leaf":    {reason: "a field by its path", fields: "shootClientConnection: {kubeconfig: a, qps: 3}", want: []string{"shootClientConnection.kubeconfig"}},
		"Changed": {reason: "another value than the default", fields: "controllers: {backupBucket: {concurrentSyncs: 3}}", want: []string{"controllers.backupBucket"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, err := gardenconfigv1alpha1.DecodeGardenletConfiguration([]byte(
				"apiVersion: gardenlet.config.gardener.cloud/v1alpha1\nkind: GardenletConfiguration\n" + tc.fields))
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Ignored()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nIgnored() (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
