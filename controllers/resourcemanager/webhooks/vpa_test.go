// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
)

func TestAutoscalersUpdateInPlace_GRM_WH_VPA_1(t *testing.T) {
	t.Parallel()
	a := newAsked(t, webhooks.Decider{})
	const mark = "vpa-in-place-updates.resources.gardener.cloud/"
	for name, tc := range map[string]struct {
		reason, labels, policy, want string
		marked                       bool
	}{
		"Auto":     {reason: "it evicts pods", labels: "{a: b}", policy: "{updateMode: Auto, minReplicas: 2}", want: "minReplicas: 2\nupdateMode: InPlaceOrRecreate\n", marked: true},
		"Recreate": {reason: "so does this one", labels: "{}", policy: "{updateMode: Recreate}", want: "updateMode: InPlaceOrRecreate\n", marked: true},
		"None":     {reason: "Auto is the default", labels: "{}", policy: "{}", want: "updateMode: InPlaceOrRecreate\n", marked: true},
		"Off":      {reason: "it only recommends", labels: "{}", policy: "{updateMode: 'Off'}", want: "updateMode: \"Off\"\n"},
		"Initial":  {reason: "it leaves running pods alone", labels: "{}", policy: "{updateMode: Initial}", want: "updateMode: Initial\n"},
		"Skipped":  {reason: "its owner says no", labels: "{" + mark + "skip: ''}", policy: "{updateMode: Auto}", want: "updateMode: Auto\n"},
	} {
		after, refusal := a.ask(t, "/webhooks/vpa-in-place-updates", "VerticalPodAutoscaler",
			"metadata: {name: v, labels: "+tc.labels+"}\nspec: {targetRef: {kind: Deployment, name: d}, updatePolicy: "+tc.policy+"}\n")
		if refusal != "" {
			t.Fatalf("%s: %s", name, refusal)
		}
		if got := field(t, after, "spec", "updatePolicy"); got != tc.want {
			t.Errorf("%s: %s\nthe policy is %s, want %s", name, tc.reason, got, tc.want)
		}
		if got := field(t, after, "spec", "targetRef"); got != "kind: Deployment\nname: d\n" {
			t.Errorf("%s: the target became %s", name, got)
		}
		if got := after.GetLabels()[mark+"mutated"]; (got == "true") != tc.marked {
			t.Errorf("%s: the labels are %v, want the mark: %t", name, after.GetLabels(), tc.marked)
		}
	}
}
