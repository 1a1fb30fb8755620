// SPDX-License-Identifier: Apache-2.0

package statuslabel

import gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"

// health orders the words from best to worst (GCM-STATUSLABEL-1).
type health int

const (
	healthy health = iota
	progressing
	unknown
	unhealthy
)

func (h health) label() string {
	switch h {
	case healthy:
		return gardencorev1beta1.ShootStatusHealthy
	case progressing:
		return gardencorev1beta1.ShootStatusProgressing
	case unknown:
		return gardencorev1beta1.ShootStatusUnknown
	default:
		return gardencorev1beta1.ShootStatusUnhealthy
	}
}

// Decide returns the word for the shoot (GCM-STATUSLABEL-2). While it is created or deleted only errors matter, because its
// conditions cannot be good yet, or any more.
func Decide(shoot *gardencorev1beta1.Shoot) string {
	last := shoot.Status.LastOperation
	if last == nil {
		return healthy.label()
	}
	failing := bad(len(shoot.Status.LastErrors) > 0)
	creating := last.Type == gardencorev1beta1.LastOperationTypeCreate && last.State != gardencorev1beta1.LastOperationStateSucceeded
	if creating || last.Type == gardencorev1beta1.LastOperationTypeDelete {
		return failing.label()
	}
	worst := healthy
	for _, condition := range shoot.Status.Conditions {
		worst = max(worst, ofCondition(condition.Status))
	}
	if last.State == gardencorev1beta1.LastOperationStateProcessing {
		return max(worst, failing).label()
	}
	return max(worst, bad(last.State != gardencorev1beta1.LastOperationStateSucceeded)).label()
}

func bad(is bool) health {
	if is {
		return unhealthy
	}
	return healthy
}

func ofCondition(status gardencorev1beta1.ConditionStatus) health {
	switch status {
	case gardencorev1beta1.ConditionTrue:
		return healthy
	case gardencorev1beta1.ConditionProgressing:
		return progressing
	case gardencorev1beta1.ConditionUnknown:
		return unknown
	case gardencorev1beta1.ConditionFalse:
		return unhealthy
	default:
		return unknown
	}
}
