// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// TestSettingsOfOldObjectsAreTheirOwners is about shoots from before the API refused such settings: their owners are told what to correct.
func TestSettingsOfOldObjectsAreTheirOwners(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*gardencorev1beta1.Worker)
		broken bool
	}{
		"Sysctl": {change: func(w *gardencorev1beta1.Worker) {
			w.Sysctls = map[string]string{"kernel.panic": "1\nkernel.hostname = x"}
		}, broken: true},
		"Bundle": {change: func(w *gardencorev1beta1.Worker) { w.CABundle = new("no certificate") }, broken: true},
		"Good":   {change: func(w *gardencorev1beta1.Worker) { w.Sysctls = map[string]string{"kernel.panic": "1"} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fresh(withWorkers)
			tc.change(&s.Spec.Provider.Workers[0])
			l := newLandscape(t, s)
			err := shoot.RunTasks(t.Context(), l.Reconciler, s, "shoot--dev--a", "osc")
			if (err != nil) != tc.broken {
				t.Errorf("the configuration of the machines: %v", err)
			}
			var want []gardencorev1beta1.ErrorCode
			if tc.broken {
				want = append(want, gardencorev1beta1.ErrorCodeConfigurationProblem)
			}
			if diff := cmp.Diff(want, operation.Codes(err), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("codes of %v (-want +got):\n%s", err, diff)
			}
		})
	}
}
