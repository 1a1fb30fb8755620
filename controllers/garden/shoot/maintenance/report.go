// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

// announce is the status of a maintenance that is about to be made. It says already what cannot be made, so that nothing has to be found
// out again to report the end (GCM-MAINT-12).
func announce(plan Plan, now time.Time) gardencorev1beta1.LastMaintenance {
	announced := gardencorev1beta1.LastMaintenance{
		Description: describe(plan), TriggeredTime: metav1.NewTime(now), State: gardencorev1beta1.LastOperationStateProcessing,
	}
	if failed := plan.Failed(); len(failed) > 0 {
		announced.FailureReason = new(lastoperation.Cut(list(failed, func(s Step) string { return s.Failure })))
	}
	return announced
}

// conclude is the status of an announced maintenance that was made.
func conclude(announced gardencorev1beta1.LastMaintenance) gardencorev1beta1.LastMaintenance {
	announced.State = gardencorev1beta1.LastOperationStateSucceeded
	if announced.FailureReason != nil {
		announced.State = gardencorev1beta1.LastOperationStateFailed
	}
	return announced
}

// postpone is the status of an announced maintenance that was not made, and what is left of it by the plan for now.
func postpone(announced gardencorev1beta1.LastMaintenance, plan Plan) gardencorev1beta1.LastMaintenance {
	reason := "The maintenance was interrupted and is made in the next time window"
	if left := plan.Done(); len(left) > 0 {
		reason += ": " + list(left, text)
	}
	announced.State, announced.FailureReason = gardencorev1beta1.LastOperationStateFailed, new(lastoperation.Cut(reason))
	return announced
}

// rejected is the status of a maintenance that the server refused.
func rejected(err error, now time.Time) gardencorev1beta1.LastMaintenance {
	return gardencorev1beta1.LastMaintenance{
		Description: "Nothing was changed, because the changes are not allowed", TriggeredTime: metav1.NewTime(now),
		State: gardencorev1beta1.LastOperationStateFailed, FailureReason: new(lastoperation.Cut(err.Error())),
	}
}

// describe says what a plan changes.
func describe(plan Plan) string {
	if len(plan.Steps) == 0 {
		return "Nothing had to be changed"
	}
	return lastoperation.Cut(fmt.Sprintf("%d of %d changes: %s", len(plan.Done()), len(plan.Steps), list(plan.Steps, text)))
}

func text(s Step) string { return s.Text }

func list(steps []Step, of func(Step) string) string {
	all := make([]string, 0, len(steps))
	for _, step := range steps {
		all = append(all, of(step))
	}
	return strings.Join(all, "; ")
}
