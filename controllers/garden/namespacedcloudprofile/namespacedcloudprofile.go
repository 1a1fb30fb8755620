// SPDX-License-Identifier: Apache-2.0

// Package namespacedcloudprofile writes into the status of each NamespacedCloudProfile what it offers together with its
// parent (GCM-NCP-1).
package namespacedcloudprofile

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "namespacedcloudprofile-status"

// Reconciler merges profiles with their parents.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. A parent with another spec enqueues its children; its spec itself is compared, because
// profiles have no generation.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	children := kit.EnqueueMatching(r.Client, &gardencorev1beta1.NamespacedCloudProfileList{},
		func(parent client.Object, child *gardencorev1beta1.NamespacedCloudProfile) bool {
			return child.Spec.Parent.Name == parent.GetName()
		})
	offer := func(parent *gardencorev1beta1.CloudProfile) any { return parent.Spec }
	b.For(&gardencorev1beta1.NamespacedCloudProfile{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&gardencorev1beta1.CloudProfile{}, children, builder.WithPredicates(kit.Changed(offer)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

// Reconcile writes what the profile offers together with its parent.
func (r *Reconciler) Reconcile(ctx context.Context, profile *gardencorev1beta1.NamespacedCloudProfile) (reconcile.Result, error) {
	parent := &gardencorev1beta1.CloudProfile{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: profile.Spec.Parent.Name}, parent); err != nil {
		return kit.Result(kit.Stop(), fmt.Errorf("get parent of profile %q: %w", client.ObjectKeyFromObject(profile), err))
	}
	commit := kit.Begin(r.Client, profile)
	profile.Status.CloudProfileSpec = query.Merged(parent, &profile.Spec).Spec
	profile.Status.ObservedGeneration = profile.Generation
	return commit.Status(ctx, kit.Stop(), nil)
}
