// SPDX-License-Identifier: Apache-2.0

package care

import (
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/schedule"
)

const (
	// foresight is how far ahead it is looked for a maintenance for which a cluster is awake. Schedules repeat after a week at the latest, but for
	// those of single days of a month.
	foresight = 7 * 24 * time.Hour
	// mostTimes is how many times of schedules are looked at. Owners of clusters with more know best when they are awake.
	mostTimes = 1000
)

// JudgeRotation finds a shoot whose credentials cannot be rotated by themselves: the key of its store can only be changed while the store
// runs, and by its schedules the cluster is asleep whenever it could be maintained (GLET-CONSTR-6).
func JudgeRotation(shoot *gardencorev1beta1.Shoot, now time.Time) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeAutomaticCredentialsRotationPossible}
	if !rotatesStoreKey(&shoot.Spec) || shoot.Spec.Hibernation == nil || len(shoot.Spec.Hibernation.Schedules) == 0 {
		return c
	}
	times, err := schedule.Parse(shoot.Spec.Hibernation.Schedules)
	if err != nil || !sleepsThrough(shoot, times, now) {
		return c // Nobody follows schedules that are not valid.
	}
	return bad(c, gardencorev1beta1.ReasonMaintenanceWindowDuringHibernation,
		"The etcd encryption key cannot be rotated by itself: the cluster is hibernated in each of its maintenance time windows")
}

// rotatesStoreKey reports whether the key of the store is to be rotated by itself.
func rotatesStoreKey(spec *gardencorev1beta1.ShootSpec) bool {
	if spec.Maintenance == nil || spec.Maintenance.AutoRotation == nil || spec.Maintenance.AutoRotation.Credentials == nil {
		return false
	}
	key := spec.Maintenance.AutoRotation.Credentials.ETCDEncryptionKey
	return key != nil && key.RotationPeriod != nil && key.RotationPeriod.Duration > 0
}

// sleepsThrough reports whether a cluster will be asleep in every maintenance time window that is to come.
func sleepsThrough(shoot *gardencorev1beta1.Shoot, times schedule.Set, now time.Time) bool {
	window := query.MaintenanceTimes(&shoot.Spec)
	end, asleep, since, seen := now.Add(foresight), query.HibernationWanted(shoot), now, 0
	maintained := func(until time.Time) bool {
		begin, _ := window.Occurrence(since)
		return !asleep && begin.Before(until)
	}
	for at, sleep := range times.After(now) {
		if seen++; seen > mostTimes || maintained(at) {
			return false
		}
		if at.After(end) {
			return true
		}
		asleep, since = sleep, at
	}
	return !maintained(end)
}
