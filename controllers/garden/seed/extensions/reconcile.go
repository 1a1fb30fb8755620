// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconcile judges the extensions of one seed, and comes back after the sync period (GCM-SEEDEXT-1).
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := r.Client.Get(ctx, request.NamespacedName, seed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	commit := kit.Begin(r.Client, seed)
	outcome, err := kit.Run(ctx, seed, r.judge)
	return commit.Status(ctx, outcome, err)
}

func (r *Reconciler) judge(ctx context.Context, seed *gardencorev1beta1.Seed) (kit.Outcome, error) {
	list := &gardencorev1beta1.ControllerInstallationList{}
	if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return kit.Stop(), fmt.Errorf("list controller installations: %w", err)
	}
	var installations []gardencorev1beta1.ControllerInstallation
	for i := range list.Items {
		if ref := list.Items[i].Spec.SeedRef; ref != nil && ref.Name == seed.Name {
			installations = append(installations, list.Items[i])
		}
	}
	now := r.Clock.Now()
	found := Decide(installations)
	found.Status = kit.Damp(ready(seed), found.Status, r.Threshold, now)
	seed.Status.Conditions = kit.SetCondition(seed.Status.Conditions, found, now)
	return kit.RequeueAfter(r.SyncPeriod), nil
}
