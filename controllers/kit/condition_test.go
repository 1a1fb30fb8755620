// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

type condition = gardencorev1beta1.Condition

func at(minute int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 1, 1, 12, minute, 0, 0, time.UTC))
}

func ready(status gardencorev1beta1.ConditionStatus, message string, transition, update int) condition {
	return condition{Type: "GardenletReady", Status: status, Reason: "Because", Message: message, LastTransitionTime: at(transition), LastUpdateTime: at(update)}
}

func TestSetCondition(t *testing.T) {
	t.Parallel()
	other := condition{Type: "Other", Status: "True", LastTransitionTime: at(1), LastUpdateTime: at(1)}
	cases := map[string]struct {
		reason string
		have   []condition
		want   []condition
		set    condition
	}{
		"GCM-ROBUST-3 new": {
			reason: "a new condition gets both times",
			have:   []condition{other},
			set:    ready("True", "fine", 0, 0),
			want:   []condition{other, ready("True", "fine", 9, 9)},
		},
		"GCM-ROBUST-3 same": {
			reason: "the same finding changes nothing, so nothing is written",
			have:   []condition{ready("True", "fine", 1, 2), other},
			set:    ready("True", "fine", 0, 0),
			want:   []condition{ready("True", "fine", 1, 2), other},
		},
		"GCM-ROBUST-3 message": {
			reason: "another message moves the update time only",
			have:   []condition{ready("True", "fine", 1, 2)},
			set:    ready("True", "very fine", 0, 0),
			want:   []condition{ready("True", "very fine", 1, 9)},
		},
		"GCM-ROBUST-3 status": {
			reason: "another status moves both times, also without another message",
			have:   []condition{ready("True", "fine", 1, 2)},
			set:    ready("False", "fine", 0, 0),
			want:   []condition{ready("False", "fine", 9, 9)},
		},
		"GCM-ROBUST-3 codes": {
			reason: "other codes move the update time",
			have:   []condition{ready("True", "fine", 1, 2)},
			set: func() condition {
				c := ready("True", "fine", 0, 0)
				c.Codes = []gardencorev1beta1.ErrorCode{"ERR_INFRA_DEPENDENCIES"}
				return c
			}(),
			want: []condition{func() condition {
				c := ready("True", "fine", 1, 9)
				c.Codes = []gardencorev1beta1.ErrorCode{"ERR_INFRA_DEPENDENCIES"}
				return c
			}()},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := append([]condition(nil), tc.have...)
			got := kit.SetCondition(tc.have, tc.set, at(9).Time)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nSetCondition (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(given, tc.have); diff != "" {
				t.Errorf("%s\nSetCondition changed its argument (-before +after):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFindCondition(t *testing.T) {
	t.Parallel()
	conditions := []condition{{Type: "Other", Status: "False"}, ready("True", "fine", 1, 1)}
	if got := query.FindCondition(conditions, "GardenletReady"); got != &conditions[1] {
		t.Errorf("FindCondition = %v, want the entry itself", got)
	}
	if got := query.FindCondition(conditions, "Missing"); got != nil {
		t.Errorf("FindCondition of a missing type = %v, want nil", got)
	}
	if !kit.ConditionIs(conditions, "GardenletReady", "True") || kit.ConditionIs(conditions, "Other", "True") || kit.ConditionIs(conditions, "Missing", "") {
		t.Error("ConditionIs must be true for exactly the condition that exists with that status")
	}
}

func TestDamp(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		have      *condition
		found     gardencorev1beta1.ConditionStatus
		threshold time.Duration
		want      gardencorev1beta1.ConditionStatus
	}{
		"GCM-THRESH-1 from True":             {reason: "a condition that was True is Progressing first", have: new(ready("True", "", 0, 0)), found: "False", threshold: time.Minute, want: "Progressing"},
		"GCM-THRESH-1 still inside":          {reason: "at the very end of the threshold it is still Progressing", have: new(ready("Progressing", "", 8, 8)), found: "Unknown", threshold: time.Minute, want: "Progressing"},
		"GCM-THRESH-1 over":                  {reason: "after the threshold the finding shows", have: new(ready("Progressing", "", 7, 8)), found: "Unknown", threshold: time.Minute, want: "Unknown"},
		"GCM-THRESH-1 from False":            {reason: "a bad condition shows another bad finding at once", have: new(ready("False", "", 9, 9)), found: "Unknown", threshold: time.Minute, want: "Unknown"},
		"GCM-THRESH-1 no threshold":          {reason: "threshold 0 shows everything at once", have: new(ready("True", "", 9, 9)), found: "False", want: "False"},
		"GCM-THRESH-1 new":                   {reason: "a new condition shows what was found", found: "False", threshold: time.Minute, want: "False"},
		"GCM-THRESH-1 good news":             {reason: "a good finding is never held back", have: new(ready("Progressing", "", 9, 9)), found: "True", threshold: time.Minute, want: "True"},
		"GCM-THRESH-1 progressing by itself": {reason: "a finding that is Progressing stays so", have: new(ready("Progressing", "", 0, 9)), found: "Progressing", threshold: time.Minute, want: "Progressing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := kit.Damp(tc.have, tc.found, tc.threshold, at(9).Time); got != tc.want {
				t.Errorf("%s\nDamp(...) = %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestNextCheck waits for a quarter of the time for which the newest bad condition is bad.
func TestNextCheck(t *testing.T) {
	t.Parallel()
	const period = 30 * time.Second
	now := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	since := func(status gardencorev1beta1.ConditionStatus, ago time.Duration) gardencorev1beta1.Condition {
		return gardencorev1beta1.Condition{Type: "T", Status: status, LastTransitionTime: metav1.NewTime(now.Add(-ago))}
	}
	for name, c := range map[string]struct {
		conditions []gardencorev1beta1.Condition
		want       time.Duration
	}{
		"None":       {want: period},
		"AllTrue":    {conditions: []gardencorev1beta1.Condition{since(gardencorev1beta1.ConditionTrue, 0)}, want: period},
		"JustBad":    {conditions: []gardencorev1beta1.Condition{since(gardencorev1beta1.ConditionFalse, 0)}, want: time.Second},
		"Bad":        {conditions: []gardencorev1beta1.Condition{since(gardencorev1beta1.ConditionProgressing, 20*time.Second)}, want: 5 * time.Second},
		"LongBad":    {conditions: []gardencorev1beta1.Condition{since(gardencorev1beta1.ConditionUnknown, time.Hour)}, want: period},
		"Newest":     {conditions: []gardencorev1beta1.Condition{since(gardencorev1beta1.ConditionFalse, time.Hour), since(gardencorev1beta1.ConditionFalse, 8*time.Second)}, want: 2 * time.Second},
		"ClockBack":  {conditions: []gardencorev1beta1.Condition{since(gardencorev1beta1.ConditionFalse, -time.Hour)}, want: time.Second},
		"FastPeriod": {conditions: []gardencorev1beta1.Condition{since(gardencorev1beta1.ConditionFalse, 125*time.Second)}, want: period},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := kit.NextCheck(c.conditions, now, period); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
