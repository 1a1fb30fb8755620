// SPDX-License-Identifier: Apache-2.0

package statuslabel_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/statuslabel"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	operation := func(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) *gardencorev1beta1.LastOperation {
		return &gardencorev1beta1.LastOperation{Type: kind, State: state}
	}
	conditions := func(statuses ...gardencorev1beta1.ConditionStatus) []gardencorev1beta1.Condition {
		result := make([]gardencorev1beta1.Condition, 0, len(statuses))
		for _, status := range statuses {
			result = append(result, gardencorev1beta1.Condition{Status: status})
		}
		return result
	}
	errs := []gardencorev1beta1.LastError{{Description: "boom"}}
	cases := map[string]struct {
		reason string
		status gardencorev1beta1.ShootStatus
		want   string
	}{
		"GCM-STATUSLABEL-2 new": {
			reason: "without an operation nothing is wrong",
			status: gardencorev1beta1.ShootStatus{Conditions: conditions("False")}, want: "healthy",
		},
		"GCM-STATUSLABEL-2 creating": {
			reason: "conditions cannot be good while the shoot is created",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Create", "Processing"), Conditions: conditions("False")}, want: "healthy",
		},
		"GCM-STATUSLABEL-2 creation with errors": {
			reason: "errors matter while the shoot is created",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Create", "Error"), LastErrors: errs}, want: "unhealthy",
		},
		"GCM-STATUSLABEL-2 deleting": {
			reason: "conditions get bad while the shoot is deleted",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Delete", "Succeeded"), Conditions: conditions("Unknown")}, want: "healthy",
		},
		"GCM-STATUSLABEL-2 created": {
			reason: "after the creation the worst condition counts",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Create", "Succeeded"), Conditions: conditions("True", "Progressing")}, want: "progressing",
		},
		"GCM-STATUSLABEL-1 unknown is worse than progressing": {
			reason: "the order of the words",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Reconcile", "Succeeded"), Conditions: conditions("Unknown", "Progressing")}, want: "unknown",
		},
		"GCM-STATUSLABEL-1 false is worst": {
			reason: "the order of the words",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Reconcile", "Succeeded"), Conditions: conditions("Unknown", "False", "True")}, want: "unhealthy",
		},
		"GCM-STATUSLABEL-2 reconciling": {
			reason: "an operation under way changes nothing by itself",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Reconcile", "Processing"), Conditions: conditions("True")}, want: "healthy",
		},
		"GCM-STATUSLABEL-2 reconciling with errors": {
			reason: "an operation under way that had errors",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Reconcile", "Processing"), LastErrors: errs, Conditions: conditions("True")}, want: "unhealthy",
		},
		"GCM-STATUSLABEL-2 failed": {
			reason: "an operation that ended badly, although all conditions are good",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Reconcile", "Failed"), Conditions: conditions("True")}, want: "unhealthy",
		},
		"GCM-STATUSLABEL-2 to be repeated": {
			reason: "one that is repeated has not ended well either",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Reconcile", "Error"), Conditions: conditions("True")}, want: "unhealthy",
		},
		"GCM-STATUSLABEL-2 not begun": {
			reason: "nor has one that waits",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Migrate", "Pending"), Conditions: conditions("True")}, want: "unhealthy",
		},
		"GCM-STATUSLABEL-2 creation not begun": {
			reason: "but a shoot that waits for its creation has no errors",
			status: gardencorev1beta1.ShootStatus{LastOperation: operation("Create", "Pending"), Conditions: conditions("False")}, want: "healthy",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, statuslabel.Decide(&gardencorev1beta1.Shoot{Status: tc.status})); diff != "" {
				t.Errorf("%s\nDecide(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
