// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Extensions judges a seed by its extensions (GCM-SEEDEXT-1).
func Extensions() Check {
	return Check{
		Name:      "seed-extensions",
		Condition: gardencorev1beta1.ConditionTypeExtensionsReady,
		Object:    &gardencorev1beta1.ControllerInstallation{},
		Enqueue: kit.EnqueueNamed(func(installation *gardencorev1beta1.ControllerInstallation) []types.NamespacedName {
			return kit.Keys("", seedOf(installation))
		}),
		Changes: kit.Changed(func(installation *gardencorev1beta1.ControllerInstallation) any {
			return installation.Status.Conditions
		}),
		Index: func(clusters kit.Clusters) error {
			return kit.Index(clusters.Garden, &gardencorev1beta1.ControllerInstallation{}, gardencorev1beta1.FieldSeedRefName,
				func(installation *gardencorev1beta1.ControllerInstallation) []string {
					if name := seedOf(installation); name != nil {
						return []string{*name}
					}
					return nil
				})
		},
		Judge: func(ctx context.Context, reader client.Reader, seed *gardencorev1beta1.Seed) (*gardencorev1beta1.Condition, error) {
			list := &gardencorev1beta1.ControllerInstallationList{}
			own := client.MatchingFields{gardencorev1beta1.FieldSeedRefName: seed.Name}
			if err := reader.List(ctx, list, own, client.UnsafeDisableDeepCopy); err != nil {
				return nil, fmt.Errorf("list controller installations: %w", err)
			}
			found := JudgeExtensions(list.Items)
			return &found, nil
		},
	}
}

func seedOf(installation *gardencorev1beta1.ControllerInstallation) *string {
	if installation.Spec.SeedRef == nil {
		return nil
	}
	return &installation.Spec.SeedRef.Name
}

const (
	messageExtensionsReady = "All extensions of the seed are installed and healthy"
	messageNotInstalled    = "it is not installed yet"
)

// requirement is the status that a condition of an installation must have, and the reason to report if it has another one.
type requirement struct {
	kind   gardencorev1beta1.ConditionType
	want   gardencorev1beta1.ConditionStatus
	reason string
}

// requirements are sorted by precedence: the first one that fails gives the reason.
func requirements() []requirement {
	return []requirement{
		{kind: gardencorev1beta1.ConditionTypeValid, want: gardencorev1beta1.ConditionTrue, reason: gardencorev1beta1.ReasonNotAllExtensionsValid},
		{kind: gardencorev1beta1.ConditionTypeInstalled, want: gardencorev1beta1.ConditionTrue, reason: gardencorev1beta1.ReasonNotAllExtensionsInstalled},
		{kind: gardencorev1beta1.ConditionTypeHealthy, want: gardencorev1beta1.ConditionTrue, reason: gardencorev1beta1.ReasonNotAllExtensionsHealthy},
		{kind: gardencorev1beta1.ConditionTypeProgressing, want: gardencorev1beta1.ConditionFalse, reason: gardencorev1beta1.ReasonSomeExtensionsProgressing},
	}
}

// JudgeExtensions sums up the installations of one seed (GCM-SEEDEXT-2).
func JudgeExtensions(installations []gardencorev1beta1.ControllerInstallation) gardencorev1beta1.Condition {
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
		Reason: gardencorev1beta1.ReasonAllExtensionsReady, Message: messageExtensionsReady,
	}
}

// problemOf returns what is wrong with one installation: the first condition, by precedence, that has the wrong status, or else
// one that is missing.
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
