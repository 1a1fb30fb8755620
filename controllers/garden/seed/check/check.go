// SPDX-License-Identifier: Apache-2.0

// Package check judges seeds by other objects of the garden that belong to them and reports the result in a condition. A value
// of type Check says what is judged:
//
//   - Extensions: all extensions have to be valid, installed, healthy and rolled out (GCM-SEEDEXT-1, GCM-SEEDEXT-2).
//   - BackupBuckets: a seed with backups needs a place to store them (GCM-SEEDBB-1 to GCM-SEEDBB-3).
package check

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Check says what a seed is judged by.
type Check struct {
	// Name is the name of the controller.
	Name string
	// Condition is the type of the condition that reports the result.
	Condition gardencorev1beta1.ConditionType
	// Object is an empty object of the kind by which seeds are judged.
	Object client.Object
	// Enqueue enqueues the seed of such an object.
	Enqueue handler.EventHandler
	// Changes lets through those changes of such an object that start a check.
	Changes predicate.Predicate
	// Index lets the cache find such objects by their seed; nil if Judge does not need that.
	Index func(kit.Clusters) error
	// Judge returns the condition without its times, or nil if the seed has nothing that it could be judged by.
	Judge func(ctx context.Context, reader client.Reader, seed *gardencorev1beta1.Seed) (*gardencorev1beta1.Condition, error)
}

// Reconciler runs a check.
type Reconciler struct {
	kit.Base

	// Check is what to check. It must be set.
	Check Check
	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ServerSeedCheckConfiguration
}

// AddToManager implements kit.Adder. A seed is judged when it appears or changes, and when somebody else changes its condition:
// a gardenlet sets it to Progressing to have the seed judged again.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if r.Check.Index != nil {
		if err := r.Check.Index(clusters); err != nil {
			return err
		}
	}
	changes := kit.Changed(func(seed *gardencorev1beta1.Seed) any { return []any{seed.Generation, r.condition(seed)} })
	changes.DeleteFunc = func(event.DeleteEvent) bool { return false }
	b := r.Controller(clusters, r.Check.Name, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(changes)).
		Watches(r.Check.Object, r.Check.Enqueue, builder.WithPredicates(r.Check.Changes))
	return kit.Complete(b, r.Check.Name, reconcile.AsReconciler(r.Client, r))
}

func (r *Reconciler) condition(seed *gardencorev1beta1.Seed) *gardencorev1beta1.Condition {
	return query.FindCondition(seed.Status.Conditions, r.Check.Condition)
}

// Reconcile judges one seed, and again after the sync period.
func (r *Reconciler) Reconcile(ctx context.Context, seed *gardencorev1beta1.Seed) (reconcile.Result, error) {
	found, err := r.Check.Judge(ctx, r.Client, seed)
	if err != nil {
		return kit.Result(kit.Stop(), err)
	}
	commit := kit.Begin(r.Client, seed)
	if found == nil {
		seed.Status.Conditions = slices.DeleteFunc(seed.Status.Conditions, func(c gardencorev1beta1.Condition) bool { return c.Type == r.Check.Condition })
	} else {
		now := r.Clock.Now()
		found.Type = r.Check.Condition
		found.Status = kit.Damp(r.condition(seed), found.Status, kit.Threshold(r.Config.ConditionThresholds, r.Check.Condition), now)
		seed.Status.Conditions = kit.SetCondition(seed.Status.Conditions, *found, now)
	}
	return commit.Status(ctx, kit.RequeueAfter(r.Config.SyncPeriod.Duration), nil)
}
