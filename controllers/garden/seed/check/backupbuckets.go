// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// BackupBuckets judges a seed by its backup buckets (GCM-SEEDBB-1).
func BackupBuckets() Check {
	return Check{
		Name:      "seed-backupbuckets",
		Condition: gardencorev1beta1.ConditionTypeBackupBucketsReady,
		Object:    &gardencorev1beta1.BackupBucket{},
		Enqueue: kit.EnqueueNamed(func(bucket *gardencorev1beta1.BackupBucket) []types.NamespacedName {
			return kit.Keys("", bucket.Spec.SeedName)
		}),
		Changes: kit.Changed(func(bucket *gardencorev1beta1.BackupBucket) any {
			return []any{bucket.Status.LastError, bucket.Status.LastOperation != nil}
		}),
		Judge: func(ctx context.Context, reader client.Reader, seed *gardencorev1beta1.Seed) (*gardencorev1beta1.Condition, error) {
			list := &gardencorev1beta1.BackupBucketList{}
			if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
				return nil, fmt.Errorf("list backup buckets: %w", err)
			}
			return JudgeBackupBuckets(seed, slices.DeleteFunc(list.Items, func(bucket gardencorev1beta1.BackupBucket) bool {
				return bucket.Spec.SeedName == nil || *bucket.Spec.SeedName != seed.Name
			})), nil
		},
	}
}

const (
	messageBucketsReady = "All backup buckets of the seed are available"
	messageNoBucket     = "The seed has no backups: its gardenlet has not created a backup bucket"
)

// JudgeBackupBuckets sums up the buckets of one seed (GCM-SEEDBB-2). A bucket that no gardenlet has acted on does not count as a
// bucket yet. A seed without backups and without buckets has no condition.
func JudgeBackupBuckets(seed *gardencorev1beta1.Seed, buckets []gardencorev1beta1.BackupBucket) *gardencorev1beta1.Condition {
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
		condition.Message = messageNoBucket
	case len(untouched) > 0:
		condition.Status, condition.Reason = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonBackupBucketsGone
		condition.Message = "The seed has no backups: no gardenlet has acted on backup bucket " + strings.Join(untouched, ", ")
	default:
		condition.Status, condition.Reason = gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonBackupBucketsAvailable
		condition.Message = messageBucketsReady
	}
	if condition.Status == gardencorev1beta1.ConditionUnknown {
		condition.Codes = []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem}
	}
	return condition
}
