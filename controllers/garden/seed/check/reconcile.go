// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconcile judges one seed, and comes back after the sync period.
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
	found, err := r.Check.Judge(ctx, r.Client, seed)
	if err != nil {
		return kit.Stop(), err
	}
	if found == nil {
		seed.Status.Conditions = slices.DeleteFunc(seed.Status.Conditions, func(c gardencorev1beta1.Condition) bool { return c.Type == r.Check.Condition })
		return kit.RequeueAfter(r.Config.SyncPeriod.Duration), nil
	}
	now := r.Clock.Now()
	found.Type = r.Check.Condition
	found.Status = kit.Damp(r.condition(seed), found.Status, kit.Threshold(r.Config.ConditionThresholds, r.Check.Condition), now)
	seed.Status.Conditions = kit.SetCondition(seed.Status.Conditions, *found, now)
	return kit.RequeueAfter(r.Config.SyncPeriod.Duration), nil
}
