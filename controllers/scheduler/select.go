// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Wants tells whether the shoot waits for this scheduler (SCHED-SEL-1, SCHED-SEL-2, SCHED-PROC-4): no seed, not being
// deleted, no other scheduler named, and not running its own control plane.
func Wants(shoot *gardencorev1beta1.Shoot) bool {
	if shoot.Spec.SeedName != nil || shoot.DeletionTimestamp != nil {
		return false
	}
	if name := shoot.Spec.SchedulerName; name != nil && *name != "" && *name != gardencorev1beta1.DefaultSchedulerName {
		return false
	}
	return !query.SelfHosted(&shoot.Spec)
}
