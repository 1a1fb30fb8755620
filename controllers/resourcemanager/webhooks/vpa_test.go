// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/webhooks"
)

func TestAutoscalersUpdateInPlace_GRM_WH_VPA_1(t *testing.T) {
	t.Parallel()
	a := newAsked(t, webhooks.Decider{})
	const mark = "vpa-in-place-updates.resources.gardener.cloud/"
	type answer struct {
		Policy, Target string
		Marked         bool
	}
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
		want := answer{Policy: tc.want, Target: "kind: Deployment\nname: d\n", Marked: tc.marked}
		got := answer{Policy: field(t, after, "spec", "updatePolicy"), Target: field(t, after, "spec", "targetRef"), Marked: after.GetLabels()[mark+"mutated"] == "true"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s\nautoscaler (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}
