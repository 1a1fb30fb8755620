// SPDX-License-Identifier: Apache-2.0

// Package managedseedset puts a finalizer on ManagedSeedSets and reports the observed generation (GCM-MSS-1, in part).
// Nothing is created from their templates yet; the API server warns about that when one is created.
package managedseedset

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "managedseedset"

// Reconciler reconciles ManagedSeedSets.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardenseedmanagementv1alpha1.ManagedSeedSet{})
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile adds the finalizer and writes the observed generation. A set in deletion loses the finalizer at once, because it
// has no replicas that would have to be deleted first.
func (r *Reconciler) Reconcile(ctx context.Context, set *gardenseedmanagementv1alpha1.ManagedSeedSet) (reconcile.Result, error) {
	if set.DeletionTimestamp != nil {
		return kit.Result(kit.Stop(), kit.DropFinalizer(ctx, r.Client, set, gardencorev1beta1.FinalizerGardener))
	}
	if err := kit.EnsureFinalizer(ctx, r.Client, set, gardencorev1beta1.FinalizerGardener); err != nil {
		return kit.Result(kit.Stop(), err)
	}
	commit := kit.Begin(r.Client, set)
	set.Status.ObservedGeneration = set.Generation
	return commit.Status(ctx, kit.Stop(), nil)
}
