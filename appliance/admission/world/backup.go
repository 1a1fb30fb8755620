// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// BackupBucket reads a BackupBucket.
func (v View) BackupBucket(ctx context.Context, name string) (*gardencorev1beta1.BackupBucket, error) {
	return Get[gardencorev1beta1.BackupBucket](ctx, v, Place{
		Group: gardencorev1beta1.GroupName, Resource: "backupbuckets", Name: name,
	})
}
