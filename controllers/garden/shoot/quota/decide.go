// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Lifetime returns for how many days the strictest of some Quotas lets a shoot exist, or 0 if none of them limits that
// (GCM-SHOOTQUOTA-1).
func Lifetime(quotas []gardencorev1beta1.Quota) int32 {
	least := int32(0)
	for i := range quotas {
		if days := quotas[i].Spec.ClusterLifetimeDays; days != nil && (least == 0 || *days < least) {
			least = *days
		}
	}
	return least
}

// Expiration returns the value that the annotation of a shoot must have for a lifetime in days: the one that it has, or the time of
// creation plus the lifetime if it has none (GCM-SHOOTQUOTA-2). A value that is no time counts as none, because the shoot would
// otherwise never end. Without a lifetime the annotation is empty, and the time zero.
func Expiration(shoot *gardencorev1beta1.Shoot, days int32) (string, time.Time) {
	if days == 0 {
		return "", time.Time{}
	}
	have := expiration(shoot)
	if end, err := time.Parse(time.RFC3339, have); err == nil {
		return have, end
	}
	end := shoot.CreationTimestamp.UTC().AddDate(0, 0, int(days))
	return end.Format(time.RFC3339), end
}

func expiration(shoot *gardencorev1beta1.Shoot) string {
	return shoot.Annotations[gardencorev1beta1.AnnotationShootExpirationTimestamp]
}
