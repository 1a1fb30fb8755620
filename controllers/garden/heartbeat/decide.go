// SPDX-License-Identifier: Apache-2.0

package heartbeat

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	messageSilent      = "The gardenlet stopped posting its status"
	messageSeedSilent  = "The gardenlet of the seed stopped sending heartbeats"
	messageShootSilent = "The gardenlet of the shoot stopped sending heartbeats"
)

// Alive reports whether the gardenlet has renewed its lease within the period. It has not if there is no lease
// (GCM-SEEDLIFE-2).
func Alive(lease *coordinationv1.Lease, period time.Duration, now time.Time) bool {
	return lease != nil && lease.Spec.RenewTime != nil && lease.Spec.RenewTime.Add(period).After(now)
}

// Silence returns the conditions of a seed or a self-hosted shoot whose gardenlet sends no heartbeats (GCM-SEEDLIFE-3).
func Silence(conditions []gardencorev1beta1.Condition, now time.Time) []gardencorev1beta1.Condition {
	return kit.SetCondition(conditions, gardencorev1beta1.Condition{
		Type:    gardencorev1beta1.ConditionTypeGardenletReady,
		Status:  gardencorev1beta1.ConditionUnknown,
		Reason:  gardencorev1beta1.ReasonStatusUnknown,
		Message: messageSilent,
	}, now)
}

// Lost reports whether the gardenlet has sent no heartbeats for so long that the state of its shoots is unknown (GCM-SEEDLIFE-5).
func Lost(conditions []gardencorev1beta1.Condition, period time.Duration, now time.Time) bool {
	ready := query.FindCondition(conditions, gardencorev1beta1.ConditionTypeGardenletReady)
	if ready == nil || ready.Status == gardencorev1beta1.ConditionTrue {
		return false
	}
	return !now.Before(ready.LastTransitionTime.Add(period))
}

// Forget sets to Unknown all conditions of a shoot, and the constraints, that its gardenlet reports, also those that are not there
// (GCM-SEEDLIFE-5). What the gardenlet does not report is not added: it would stay Unknown when the gardenlet is back.
func Forget(shoot *gardencorev1beta1.Shoot, now time.Time) {
	reported := slices.DeleteFunc(query.ShootConditions(), func(t gardencorev1beta1.ConditionType) bool {
		return t == gardencorev1beta1.ConditionTypeEveryNodeReady && query.Workerless(&shoot.Spec)
	})
	message := messageSeedSilent
	if query.SelfHosted(&shoot.Spec) {
		message = messageShootSilent
	}
	shoot.Status.Conditions = unknown(shoot.Status.Conditions, reported, message, now)
	shoot.Status.Constraints = unknown(shoot.Status.Constraints, []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeHibernationPossible,
		gardencorev1beta1.ConditionTypeMaintenancePreconditionsSatisfied,
	}, message, now)
}

func unknown(
	conditions []gardencorev1beta1.Condition, types []gardencorev1beta1.ConditionType, message string, now time.Time,
) []gardencorev1beta1.Condition {
	for _, t := range types {
		conditions = kit.SetCondition(conditions, gardencorev1beta1.Condition{
			Type:    t,
			Status:  gardencorev1beta1.ConditionUnknown,
			Reason:  gardencorev1beta1.ReasonStatusUnknown,
			Message: message,
		}, now)
	}
	return conditions
}
