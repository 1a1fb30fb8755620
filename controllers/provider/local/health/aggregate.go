// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// The reasons of conditions (EXT-HEALTH-5).
const (
	reasonSuccessful   = "HealthCheckSuccessful"
	reasonProgressing  = "HealthCheckProgressing"
	reasonUnsuccessful = "HealthCheckUnsuccessful"
)

// Outcome is how a check has ended.
type Outcome string

// The outcomes of a check that could be made.
const (
	Successful   Outcome = "Successful"
	Progressing  Outcome = "Progressing"
	Unsuccessful Outcome = "Unsuccessful"
)

// Finding is what a check has found.
type Finding struct {
	// Outcome is not looked at if there is an error.
	Outcome Outcome
	// Detail says what is wrong, or what goes on.
	Detail string
	// Codes classify what is wrong.
	Codes []gardencorev1beta1.ErrorCode
	// Patience is how long progress is not a failure; zero is for ever.
	Patience time.Duration
	// Err says why the check could not be made.
	Err error
}

// Aggregate makes a condition of the findings of all checks that count for it. have is the condition so far, nil if it is new.
func Aggregate(kind gardencorev1beta1.ConditionType, have *gardencorev1beta1.Condition, findings []Finding, now time.Time) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: kind}
	erroneous := among(findings, func(f Finding) bool { return f.Err != nil })
	failed := among(findings, func(f Finding) bool { return f.Err == nil && f.Outcome == Unsuccessful })
	moving := among(findings, func(f Finding) bool { return f.Err == nil && f.Outcome == Progressing })
	switch {
	case len(erroneous) > 0:
		c.Status, c.Reason = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonConditionCheckError
		c.Message = "The check could not be made: " + list(erroneous)
	case len(failed) > 0:
		c.Status, c.Reason, c.Message, c.Codes = gardencorev1beta1.ConditionFalse, reasonUnsuccessful, list(failed), codes(failed)
	case len(moving) > 0 && tolerable(have, moving, now):
		c.Status, c.Reason, c.Message, c.Codes = gardencorev1beta1.ConditionProgressing, reasonProgressing, list(moving), codes(moving)
	case len(moving) > 0:
		c.Status, c.Reason, c.Message, c.Codes = gardencorev1beta1.ConditionFalse, reasonUnsuccessful, list(moving), codes(moving)
	default:
		c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionTrue, reasonSuccessful, "All checks were successful"
	}
	return c
}

// tolerable reports whether progress is not a failure yet: the smallest patience counts, from the time at which the condition became
// something else than True (EXT-HEALTH-6).
func tolerable(have *gardencorev1beta1.Condition, moving []Finding, now time.Time) bool {
	var patience time.Duration
	for _, f := range moving {
		if f.Patience > 0 && (patience == 0 || f.Patience < patience) {
			patience = f.Patience
		}
	}
	switch {
	case have == nil, have.Status == gardencorev1beta1.ConditionTrue, patience == 0:
		return true
	case have.Status == gardencorev1beta1.ConditionFalse:
		return false
	default:
		return now.Sub(have.LastTransitionTime.Time) <= patience
	}
}

func among(findings []Finding, which func(Finding) bool) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return !which(f) })
}

// list numbers the details if there are several.
func list(findings []Finding) string {
	texts := make([]string, 0, len(findings))
	for i, f := range findings {
		text := f.Detail
		if f.Err != nil {
			text = f.Err.Error()
		}
		if len(findings) > 1 {
			text = fmt.Sprintf("%d) %s", i+1, text)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func codes(findings []Finding) []gardencorev1beta1.ErrorCode {
	var all []gardencorev1beta1.ErrorCode
	for _, f := range findings {
		all = append(all, f.Codes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
