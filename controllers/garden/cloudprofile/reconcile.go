// SPDX-License-Identifier: Apache-2.0

package cloudprofile

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconcile writes the stage of life of each version, and comes back when the first of them enters the next one
// (GCM-CLOUDPROFILE-2).
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	profile := &gardencorev1beta1.CloudProfile{}
	if err := r.Client.Get(ctx, request.NamespacedName, profile); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if profile.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	commit := kit.Begin(r.Client, profile)
	now := r.Clock.Now()
	status, next := Status(&profile.Spec, now)
	profile.Status = status
	if next.IsZero() {
		return commit.Status(ctx, kit.Stop(), nil)
	}
	return commit.Status(ctx, kit.RequeueAfter(next.Sub(now)), nil)
}
