// SPDX-License-Identifier: Apache-2.0

package backupbuckets

import (
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	messageReady = "All backup buckets of the seed are available"
	messageGone  = "No backups are made: the seed wants them, but its gardenlet has not made a backup bucket"
)

// Decide sums up the buckets of one seed (GCM-SEEDBB-2). A bucket that no gardenlet has acted on is none yet. A seed without
// backups and without buckets has no condition.
func Decide(seed *gardencorev1beta1.Seed, buckets []gardencorev1beta1.BackupBucket) *gardencorev1beta1.Condition {
	if seed.Spec.Backup == nil && len(buckets) == 0 {
		return nil
	}
	var broken, untouched []string
	for i := range buckets {
		switch bucket := &buckets[i]; {
		case bucket.Status.LastError != nil:
			broken = append(broken, fmt.Sprintf("%s: %s", bucket.Name, bucket.Status.LastError.Description))
		case bucket.Status.LastOperation == nil:
			untouched = append(untouched, bucket.Name)
		}
	}
	slices.Sort(broken)
	slices.Sort(untouched)
	condition := &gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeBackupBucketsReady}
	switch {
	case len(broken) > 0:
		condition.Status, condition.Reason = gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonBackupBucketsError
		condition.Message = strings.Join(broken, "; ")
	case len(buckets) == 0:
		condition.Status, condition.Reason = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonBackupBucketsGone
		condition.Message = messageGone
	case len(untouched) > 0:
		condition.Status, condition.Reason = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonBackupBucketsGone
		condition.Message = "No backups are made: no gardenlet has acted on backup bucket " + strings.Join(untouched, ", ")
	default:
		condition.Status, condition.Reason = gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonBackupBucketsAvailable
		condition.Message = messageReady
	}
	if condition.Status == gardencorev1beta1.ConditionUnknown {
		condition.Codes = []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem}
	}
	return condition
}
