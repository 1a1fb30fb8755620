// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "managedseedset"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler holds ManagedSeedSets.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardenseedmanagementv1alpha1.ManagedSeedSet{})
	return kit.Complete(b, controllerName, r)
}

// Reconcile holds a set that lives and says that it was seen. One in deletion is let go: it has no replicas that would have
// to go first.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := &gardenseedmanagementv1alpha1.ManagedSeedSet{}
	if err := r.Client.Get(ctx, request.NamespacedName, set); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
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
