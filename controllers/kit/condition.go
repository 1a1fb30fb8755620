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

// ConditionIs tells whether the condition of that type exists with that status.
func ConditionIs(conditions []gardencorev1beta1.Condition, kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus) bool {
	found := query.FindCondition(conditions, kind)
	return found != nil && found.Status == status
}

// SetCondition returns the conditions with want in the place of its type; the given slice is not changed. The times
// of want are ignored: the transition time moves only with the status, the update time only when status, reason,
// message or codes changed (GCM-ROBUST-3), so that a repeated finding changes nothing.
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

// Damp applies the threshold rule (GCM-THRESH-1) to a finding: a condition that was True first becomes Progressing
// for the length of the threshold, and only then what was found. A condition that is new, False or Unknown takes the
// finding at once, as does everything when the threshold is 0.
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

// Threshold is how long the condition of that type is Progressing before it turns False; 0 if none is configured.
func Threshold(thresholds []gardenconfigv1alpha1.ConditionThreshold, kind gardencorev1beta1.ConditionType) time.Duration {
	for _, t := range thresholds {
		if t.Type == string(kind) {
			return t.Duration.Duration
		}
	}
	return 0
}
