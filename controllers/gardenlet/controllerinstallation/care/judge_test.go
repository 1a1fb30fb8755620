// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation/care"
)

func summary(conditions []gardencorev1beta1.Condition) (states []string, messages string) {
	for _, c := range conditions {
		states = append(states, string(c.Type)+" "+string(c.Status)+" "+c.Reason)
		messages += c.Message + "\n"
	}
	return states, messages
}

func TestJudge(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		// found are the status of applied, healthy and progressing; empty for a condition that is missing.
		found [3]gardencorev1beta1.ConditionStatus
		// changed is set for a change that the resource manager has not looked at.
		changed bool
		want    []string
	}{
		"Well": {
			reason: "what the resource manager finds well is well", found: [3]gardencorev1beta1.ConditionStatus{"True", "True", "False"},
			want: []string{"Installed True InstallationSuccessful", "Healthy True ControllerHealthy", "Progressing False ControllerRolledOut"},
		},
		"Nothing": {
			reason: "what nobody has looked at is not installed",
			want:   []string{"Installed False InstallationPending", "Healthy False ControllerNotHealthy", "Progressing True ControllerNotRolledOut"},
		},
		"Failed": {
			reason: "objects that cannot be applied are pending", found: [3]gardencorev1beta1.ConditionStatus{"False", "True", "False"},
			want: []string{"Installed False InstallationPending", "Healthy True ControllerHealthy", "Progressing False ControllerRolledOut"},
		},
		"Changed": {
			reason: "GRM-HEALTH-6: what was said of the generation before does not count", found: [3]gardencorev1beta1.ConditionStatus{"True", "True", "False"}, changed: true,
			want: []string{"Installed False InstallationPending", "Healthy True ControllerHealthy", "Progressing False ControllerRolledOut"},
		},
		"RollingOut": {
			reason: "a rollout is not a failure", found: [3]gardencorev1beta1.ConditionStatus{"True", "True", "True"},
			want: []string{"Installed True InstallationSuccessful", "Healthy True ControllerHealthy", "Progressing True ControllerNotRolledOut"},
		},
		"Unknown": {
			reason: "what is judged anew is not healthy yet", found: [3]gardencorev1beta1.ConditionStatus{"True", "Unknown", "Unknown"},
			want: []string{"Installed True InstallationSuccessful", "Healthy False ControllerNotHealthy", "Progressing True ControllerNotRolledOut"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mr := &gardenresourcesv1alpha1.ManagedResource{}
			mr.Generation, mr.Status.ObservedGeneration = 2, 2
			if tc.changed {
				mr.Generation++
			}
			for i, kind := range []gardencorev1beta1.ConditionType{"ResourcesApplied", "ResourcesHealthy", "ResourcesProgressing"} {
				if tc.found[i] != "" {
					mr.Status.Conditions = append(mr.Status.Conditions, gardencorev1beta1.Condition{Type: kind, Status: tc.found[i], Message: "because of " + string(kind)})
				}
			}
			states, messages := summary(care.Judge(mr))
			if diff := cmp.Diff(tc.want, states); diff != "" {
				t.Errorf("GLET-CI-7: %s\nJudge(...) (-want +got):\n%s", tc.reason, diff)
			}
			if name == "Failed" && !strings.Contains(messages, "because of ResourcesApplied") {
				t.Errorf("GLET-CI-7: the messages do not say why:\n%s", messages)
			}
		})
	}
}

// TestJudgeTellsNoData_EXT_REG_8 keeps what may quote Secrets in the seed.
func TestJudgeTellsNoData_EXT_REG_8(t *testing.T) {
	t.Parallel()
	mr := &gardenresourcesv1alpha1.ManagedResource{}
	mr.Namespace, mr.Name = "garden", "demo-x"
	mr.Labels = map[string]string{controllerinstallation.LabelConfidential: "true"}
	for _, kind := range []gardencorev1beta1.ConditionType{"ResourcesApplied", "ResourcesHealthy", "ResourcesProgressing"} {
		mr.Status.Conditions = append(mr.Status.Conditions, gardencorev1beta1.Condition{Type: kind, Status: "Unknown", Message: "Invalid value: open-sesame"})
	}
	_, messages := summary(care.Judge(mr))
	if strings.Contains(messages, "open-sesame") || strings.Count(messages, `ManagedResource "garden/demo-x"`) != 3 {
		t.Errorf("the messages show the data, or do not say where to look:\n%s", messages)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	states, messages := summary(care.Unreadable(errors.New("boom")))
	want := []string{"Installed Unknown SeedReadError", "Healthy Unknown SeedReadError", "Progressing Unknown SeedReadError"}
	if diff := cmp.Diff(want, states); diff != "" || !strings.Contains(messages, "boom") {
		t.Errorf("GLET-CI-7: what cannot be read is unknown (-want +got):\n%s\nmessages:\n%s", diff, messages)
	}
}
