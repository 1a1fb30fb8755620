// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	messageReady        = "All extensions of the seed are installed and healthy"
	messageNotInstalled = "it is not installed yet"
)

// requirement is a condition of an installation, and the reason against the seed when it is not as it should be.
type requirement struct {
	kind   gardencorev1beta1.ConditionType
	want   gardencorev1beta1.ConditionStatus
	reason string
}

// requirements are in the order of their weight: the first that fails gives the reason.
func requirements() []requirement {
	return []requirement{
		{kind: gardencorev1beta1.ConditionTypeValid, want: gardencorev1beta1.ConditionTrue, reason: gardencorev1beta1.ReasonNotAllExtensionsValid},
		{kind: gardencorev1beta1.ConditionTypeInstalled, want: gardencorev1beta1.ConditionTrue, reason: gardencorev1beta1.ReasonNotAllExtensionsInstalled},
		{kind: gardencorev1beta1.ConditionTypeHealthy, want: gardencorev1beta1.ConditionTrue, reason: gardencorev1beta1.ReasonNotAllExtensionsHealthy},
		{kind: gardencorev1beta1.ConditionTypeProgressing, want: gardencorev1beta1.ConditionFalse, reason: gardencorev1beta1.ReasonSomeExtensionsProgressing},
	}
}

// Decide sums up the installations of one seed (GCM-SEEDEXT-2).
func Decide(installations []gardencorev1beta1.ControllerInstallation) gardencorev1beta1.Condition {
	problems := map[string][]string{}
	for i := range installations {
		if reason, message := problemOf(installations[i].Status.Conditions); reason != "" {
			problems[reason] = append(problems[reason], fmt.Sprintf("%s: %s", installations[i].Name, message))
		}
	}
	for _, r := range requirements() {
		if found := problems[r.reason]; len(found) > 0 {
			slices.Sort(found)
			return gardencorev1beta1.Condition{
				Type: gardencorev1beta1.ConditionTypeExtensionsReady, Status: gardencorev1beta1.ConditionFalse,
				Reason: r.reason, Message: strings.Join(found, "; "),
			}
		}
	}
	return gardencorev1beta1.Condition{
		Type: gardencorev1beta1.ConditionTypeExtensionsReady, Status: gardencorev1beta1.ConditionTrue,
		Reason: gardencorev1beta1.ReasonAllExtensionsReady, Message: messageReady,
	}
}

// problemOf returns what is wrong with one installation: the weightiest condition that is not as it should be, or one
// that is missing.
func problemOf(conditions []gardencorev1beta1.Condition) (reason, message string) {
	if len(conditions) == 0 {
		return gardencorev1beta1.ReasonNotAllExtensionsInstalled, messageNotInstalled
	}
	missing := ""
	for _, r := range requirements() {
		condition := query.FindCondition(conditions, r.kind)
		switch {
		case condition == nil && missing == "":
			missing = fmt.Sprintf("its condition %s is missing", r.kind)
		case condition != nil && condition.Status != r.want:
			return r.reason, condition.Message
		}
	}
	if missing != "" {
		return gardencorev1beta1.ReasonNotAllExtensionsHealthy, missing
	}
	return "", ""
}
