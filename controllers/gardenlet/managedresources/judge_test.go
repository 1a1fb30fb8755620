// SPDX-License-Identifier: Apache-2.0

package managedresources_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/managedresources"
)

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func resource(name string, changes ...func(*gardenresourcesv1alpha1.ManagedResource)) gardenresourcesv1alpha1.ManagedResource {
	r := gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 2}}
	r.Status.ObservedGeneration = 2
	r.Status.Conditions = []gardencorev1beta1.Condition{
		{Type: "ResourcesApplied", Status: "True"}, {Type: "ResourcesHealthy", Status: "True"}, {Type: "ResourcesProgressing", Status: "False"},
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

// is gives the condition with an index another status, since some time.
func is(index int, status gardencorev1beta1.ConditionStatus, since time.Duration) func(*gardenresourcesv1alpha1.ManagedResource) {
	return func(r *gardenresourcesv1alpha1.ManagedResource) {
		c := &r.Status.Conditions[index]
		c.Status, c.Reason, c.Message = status, "Why", "how"
		c.LastTransitionTime = metav1.NewTime(now().Add(-since))
	}
}

// because gives the first condition another reason.
func because(reason string) func(*gardenresourcesv1alpha1.ManagedResource) {
	return func(r *gardenresourcesv1alpha1.ManagedResource) { r.Status.Conditions[0].Reason = reason }
}

func newer(r *gardenresourcesv1alpha1.ManagedResource) { r.Generation = 3 }

func without(index int) func(*gardenresourcesv1alpha1.ManagedResource) {
	return func(r *gardenresourcesv1alpha1.ManagedResource) {
		r.Status.Conditions = append(r.Status.Conditions[:index], r.Status.Conditions[index+1:]...)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	for name, tc := range map[string]struct {
		reason    string
		resource  gardenresourcesv1alpha1.ManagedResource
		threshold time.Duration
		want      string
	}{
		"GLET-SEEDCARE-1 well":         {"all is well", resource("b"), 0, ""},
		"GLET-SEEDCARE-1 not applied":  {"it is not applied", resource("b", is(0, "False", 0)), hour, `Why ManagedResource "b": how`},
		"GLET-SEEDCARE-1 unhealthy":    {"it is not healthy", resource("b", is(1, "False", 0)), hour, `Why ManagedResource "b": how`},
		"GLET-SEEDCARE-1 unknown":      {"nobody knows", resource("b", is(1, "Unknown", 0)), hour, `Why ManagedResource "b": how`},
		"GLET-SEEDCARE-3 outdated":     {"the report is about an older generation", resource("b", newer), hour, `OutdatedStatus ManagedResource "b": generation 3 is not observed, only 2`},
		"GLET-SEEDCARE-3 apply failed": {"the report about the older generation says why", resource("b", newer, is(0, "False", 0), because("ApplyFailed")), hour, `ApplyFailed ManagedResource "b": how`},
		"GLET-SEEDCARE-3 unapplied":    {"another report does not", resource("b", newer, is(0, "False", 0)), hour, `OutdatedStatus ManagedResource "b": generation 3 is not observed, only 2`},
		"GLET-SEEDCARE-3 was applied":  {"nor one of success", resource("b", newer, because("ApplyFailed")), hour, `OutdatedStatus ManagedResource "b": generation 3 is not observed, only 2`},
		"GLET-SEEDCARE-3 no applied":   {"a condition is missing", resource("b", without(0)), hour, `MissingManagedResourceCondition ManagedResource "b": it has no condition ResourcesApplied`},
		"GLET-SEEDCARE-3 no healthy":   {"or another one", resource("b", without(1)), hour, `MissingManagedResourceCondition ManagedResource "b": it has no condition ResourcesHealthy`},
		"GLET-SEEDCARE-3 no progress":  {"or the third", resource("b", without(2)), hour, `MissingManagedResourceCondition ManagedResource "b": it has no condition ResourcesProgressing`},
		"GLET-CARE-12 progressing":     {"without a threshold a rollout counts at once", resource("b", is(2, "True", 0)), 0, `Why ManagedResource "b": how`},
		"GLET-CARE-12 in time":         {"with one it has time", resource("b", is(2, "True", hour)), hour, ""},
		"GLET-CARE-12 stuck":           {"but not for ever", resource("b", is(2, "True", hour+time.Second)), hour, `ProgressingRolloutStuck ManagedResource "b": it has been progressing for longer than 1h0m0s: how`},
		"GLET-CARE-12 not applied now": {"what is wrong otherwise has no time", resource("b", is(0, "False", 0), is(2, "True", 0)), hour, `Why ManagedResource "b": how`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			later := resource("c", is(0, "False", 0))
			if tc.want == "" {
				later = resource("c")
			}
			reason, message := managedresources.Judge([]gardenresourcesv1alpha1.ManagedResource{later, resource("a"), tc.resource}, managedresources.Patience{Threshold: tc.threshold, Now: now()})
			got := reason
			if message != "" {
				got += " " + message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nJudge(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
