// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/state"
)

func TestNeeded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		last   *gardencorev1beta1.LastOperation
		want   bool
	}{
		"GCM-SHOOTSTATE-1 migrates":      {reason: "the old seed gives the shoot up", last: &gardencorev1beta1.LastOperation{Type: "Migrate", State: "Processing"}, want: true},
		"GCM-SHOOTSTATE-1 migrated":      {reason: "nobody has the shoot", last: &gardencorev1beta1.LastOperation{Type: "Migrate", State: "Succeeded"}, want: true},
		"GCM-SHOOTSTATE-1 restores":      {reason: "the new seed takes it over", last: &gardencorev1beta1.LastOperation{Type: "Restore", State: "Processing"}, want: true},
		"GCM-SHOOTSTATE-1 fails":         {reason: "the new seed will try again", last: &gardencorev1beta1.LastOperation{Type: "Restore", State: "Failed"}, want: true},
		"GCM-SHOOTSTATE-1 restored":      {reason: "the new seed has taken it over", last: &gardencorev1beta1.LastOperation{Type: "Restore", State: "Succeeded"}},
		"GCM-SHOOTSTATE-1 reconciles":    {reason: "it is on a seed", last: &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Processing"}},
		"GCM-SHOOTSTATE-1 is created":    {reason: "nothing has moved yet", last: &gardencorev1beta1.LastOperation{Type: "Create", State: "Error"}},
		"GCM-SHOOTSTATE-1 not yet begun": {reason: "nothing has been done yet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := state.Needed(&gardencorev1beta1.Shoot{Status: gardencorev1beta1.ShootStatus{LastOperation: tc.last}}); got != tc.want {
				t.Errorf("%s\nNeeded(...) = %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
