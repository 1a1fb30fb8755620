// SPDX-License-Identifier: Apache-2.0

package backupbuckets

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/check"
)

// Check judges a seed by its backup buckets (GCM-SEEDBB-1).
func Check() check.Check {
	return check.Check{
		Name:      "seed-backupbuckets",
		Condition: gardencorev1beta1.ConditionTypeBackupBucketsReady,
		Judge:     judge,
		Object:    &gardencorev1beta1.BackupBucket{},
		SeedOf:    seedOf,
		Facts: func(object client.Object) any {
			bucket, ok := object.(*gardencorev1beta1.BackupBucket)
			if !ok {
				return nil
			}
			return []any{bucket.Status.LastError, bucket.Status.LastOperation != nil}
		},
	}
}

func seedOf(object client.Object) string {
	bucket, ok := object.(*gardencorev1beta1.BackupBucket)
	if !ok || bucket.Spec.SeedName == nil {
		return ""
	}
	return *bucket.Spec.SeedName
}

func judge(ctx context.Context, reader client.Reader, seed *gardencorev1beta1.Seed) (*gardencorev1beta1.Condition, error) {
	list := &gardencorev1beta1.BackupBucketList{}
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list backup buckets: %w", err)
	}
	var buckets []gardencorev1beta1.BackupBucket
	for i := range list.Items {
		if seedOf(&list.Items[i]) == seed.Name {
			buckets = append(buckets, list.Items[i])
		}
	}
	return Decide(seed, buckets), nil
}
