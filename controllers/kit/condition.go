// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ConditionIs reports whether the condition of that type exists with that status.
func ConditionIs(conditions []gardencorev1beta1.Condition, kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) bool {
	found := query.FindCondition(conditions, kind)
	return found != nil && found.Status == status
}

// SetCondition returns a copy of the conditions in which want replaces the condition of its type. The times of want are
// ignored: the transition time changes only with the status, the update time only with status, reason, message or codes,
// so a repeated finding changes nothing (GCM-ROBUST-3).
func SetCondition(conditions []gardencorev1beta1.Condition, want gardencorev1beta1.Condition, now time.Time) []gardencorev1beta1.Condition {
	stamp := metav1.NewTime(now)
	result := slices.Clone(conditions)
	index := slices.IndexFunc(result, func(c gardencorev1beta1.Condition) bool { return c.Type == want.Type })
	if index < 0 {
		want.LastTransitionTime, want.LastUpdateTime = stamp, stamp
		return append(result, want)
	}
	have := result[index]
	want.LastTransitionTime, want.LastUpdateTime = have.LastTransitionTime, have.LastUpdateTime
	if have.Status != want.Status {
		want.LastTransitionTime = stamp
	}
	if have.Status != want.Status || have.Reason != want.Reason || have.Message != want.Message || !slices.Equal(have.Codes, want.Codes) {
		want.LastUpdateTime = stamp
	}
	result[index] = want
	return result
}

// Damp returns the status to write for a finding. A condition that was True becomes Progressing for the length of the
// threshold, and only then False or Unknown. A condition that is new, False or Unknown takes the finding at once, as do
// all conditions if the threshold is 0 (GCM-THRESH-1).
func Damp(have *gardencorev1beta1.Condition, found gardencorev1beta1.ConditionStatus, threshold time.Duration, now time.Time) gardencorev1beta1.ConditionStatus {
	bad := found == gardencorev1beta1.ConditionFalse || found == gardencorev1beta1.ConditionUnknown
	if !bad || have == nil || threshold <= 0 {
		return found
	}
	switch have.Status {
	case gardencorev1beta1.ConditionTrue:
		return gardencorev1beta1.ConditionProgressing
	case gardencorev1beta1.ConditionProgressing:
		if now.Sub(have.LastTransitionTime.Time) <= threshold {
			return gardencorev1beta1.ConditionProgressing
		}
		return found
	default:
		return found
	}
}

// Delay is how long a condition is Progressing before it turns bad, with what that depends on.
type Delay struct {
	Threshold time.Duration
	Now       time.Time
	// Last is the last operation on the object; nil if there was none.
	Last *gardencorev1beta1.LastOperation
}

// DampAfter is Damp for the conditions of an object on which operations run. A condition that is False is Progressing again for as long as an
// operation has only just succeeded, or when it is False for another reason than before; one that is Progressing stays so after a success
// (GLET-THRESH-1, 2). That something is not known is no finding about it, and shows at once (GLET-CARE-3, 16).
func DampAfter(have *gardencorev1beta1.Condition, found gardencorev1beta1.Condition, d Delay) gardencorev1beta1.ConditionStatus {
	if found.Status == gardencorev1beta1.ConditionUnknown {
		return found.Status
	}
	status := Damp(have, found.Status, d.Threshold, d.Now)
	if d.Threshold <= 0 || have == nil || status != gardencorev1beta1.ConditionFalse {
		return status
	}
	recent := d.Last != nil && d.Last.State == gardencorev1beta1.LastOperationStateSucceeded && d.Now.Sub(d.Last.LastUpdateTime.Time) < d.Threshold
	was := have.Status == gardencorev1beta1.ConditionFalse
	if (recent && (was || have.Status == gardencorev1beta1.ConditionProgressing)) || (was && have.Reason != found.Reason) {
		return gardencorev1beta1.ConditionProgressing
	}
	return status
}

// Threshold is how long the condition of that type is Progressing before it turns False; 0 if none is configured.
func Threshold(thresholds []gardenconfigv1alpha1.ConditionThreshold, kind gardencorev1beta1.ConditionType) time.Duration {
	for _, t := range thresholds {
		if t.Type == string(kind) {
			return t.Duration.Duration
		}
	}
	return 0
}

const (
	// soonest is the shortest time between two checks.
	soonest = time.Second
	// share of the time for which something has been bad is the time until the next check, so that nobody learns much later that it is
	// good again.
	share = 4
)

// NextCheck returns how long to wait for the next periodic check. What has just turned bad often turns good again soon, as when
// workloads start: it is checked again when it has been bad for a quarter longer than now, and after a second at the soonest. If all
// conditions are True, or bad for longer than four periods, that is the period.
func NextCheck(conditions []gardencorev1beta1.Condition, now time.Time, period time.Duration) time.Duration {
	wait := period
	for _, c := range conditions {
		if c.Status != gardencorev1beta1.ConditionTrue {
			wait = min(wait, max(now.Sub(c.LastTransitionTime.Time)/share, soonest))
		}
	}
	return wait
}
