// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Shoot reads a Shoot.
func (v View) Shoot(ctx context.Context, namespace, name string) (*gardencorev1beta1.Shoot, error) {
	return Get[gardencorev1beta1.Shoot](ctx, v, Place{
		Group: gardencorev1beta1.GroupName, Resource: "shoots", Namespace: namespace, Name: name,
	})
}
