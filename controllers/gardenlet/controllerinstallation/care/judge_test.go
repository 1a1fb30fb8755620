// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
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
		reason   string
		findings care.Findings
		want     []string
		message  string
	}{
		"Well": {
			reason: "an extension without a finding is healthy", findings: care.Findings{Members: 3},
			want: []string{"Installed True InstallationSuccessful", "Healthy True ControllerHealthy", "Progressing False ControllerRolledOut"},
		},
		"Nothing": {
			reason: "an installation without objects is not installed", findings: care.Findings{},
			want: []string{"Installed False InstallationPending", "Healthy True ControllerHealthy", "Progressing False ControllerRolledOut"},
		},
		"Missing": {
			reason: "a missing object is not healthy either", findings: care.Findings{Members: 3, Missing: []string{`Secret "x"`}},
			want: []string{"Installed False InstallationPending", "Healthy False ControllerNotHealthy", "Progressing False ControllerRolledOut"}, message: `Secret "x"`,
		},
		"RollingOut": {
			reason: "a rollout is not a failure", findings: care.Findings{Members: 3, Progressing: []string{`Deployment "x": 1 of 2 pods are updated`}},
			want: []string{"Installed True InstallationSuccessful", "Healthy True ControllerHealthy", "Progressing True ControllerNotRolledOut"}, message: "1 of 2",
		},
		"Ill": {
			reason: "a workload that does not run is named", findings: care.Findings{Members: 3, Unhealthy: []string{`Deployment "x": crashes`}},
			want: []string{"Installed True InstallationSuccessful", "Healthy False ControllerNotHealthy", "Progressing False ControllerRolledOut"}, message: "crashes",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			states, messages := summary(care.Judge(tc.findings))
			if diff := cmp.Diff(tc.want, states); diff != "" || !strings.Contains(messages, tc.message) {
				t.Errorf("GLET-CI-7: %s\nJudge(...) (-want +got):\n%s\nmessages:\n%s", tc.reason, diff, messages)
			}
		})
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
