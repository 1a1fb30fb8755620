// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// deletedAlready tells whether only the last steps of a deletion are left.
func deletedAlready(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	return shoot.DeletionTimestamp != nil && last != nil && last.Type == gardencorev1beta1.LastOperationTypeDelete &&
		last.State == gardencorev1beta1.LastOperationStateSucceeded
}

// deleted ends a deletion: nothing of the shoot is left in the seed, so the garden may forget it.
func (r *Reconciler) deleted(ctx context.Context, o *operation) (reconcile.Result, error) {
	cluster := &gardenextensionsv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: o.namespace}}
	if err := r.seedEngine().Delete(ctx, cluster); err != nil {
		return r.failed(ctx, nil, o.status, o.status.current().Status, err)
	}
	if !deletedAlready(o.status.current()) {
		done := o.status.current()
		err := o.status.change(ctx, func(gardencorev1beta1.ShootStatus) gardencorev1beta1.ShootStatus {
			return Succeeded(done, r.Clock.Now())
		})
		if err != nil {
			return kit.Result(kit.Continue(), err)
		}
		r.event(o.shoot, gardencorev1beta1.LastOperationTypeDelete, eventEnd)
	}
	return kit.Result(kit.Continue(), kit.DropFinalizer(ctx, r.GardenClient, o.status.current(), gardencorev1beta1.FinalizerGardener))
}
