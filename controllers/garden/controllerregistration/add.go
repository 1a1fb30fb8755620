// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "controllerregistration"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the installations of seeds.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. The watches are GCM-CR-1.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(seedChanges())).
		Watches(&gardencorev1beta1.ControllerRegistration{}, handler.EnqueueRequestsFromMapFunc(r.allSeeds)).
		Watches(&gardencorev1beta1.ControllerDeployment{}, handler.EnqueueRequestsFromMapFunc(r.allSeeds)).
		Watches(&gardencorev1beta1.ControllerInstallation{}, handler.EnqueueRequestsFromMapFunc(seedOfInstallation), builder.WithPredicates(installationChanges())).
		Watches(&gardencorev1beta1.Shoot{}, handler.EnqueueRequestsFromMapFunc(seedsOfShoot), builder.WithPredicates(shootChanges())).
		Watches(&gardencorev1beta1.BackupBucket{}, handler.EnqueueRequestsFromMapFunc(seedOfBucket), builder.WithPredicates(needChanges())).
		Watches(&gardencorev1beta1.BackupEntry{}, handler.EnqueueRequestsFromMapFunc(seedsOfEntry), builder.WithPredicates(needChanges())).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.allSeeds), builder.WithPredicates(domainChanges()))
	return kit.Complete(b, controllerName, r)
}

// allSeeds enqueues every seed. A failed list loses nothing for good: the cache that fails here fails the manager.
func (r *Reconciler) allSeeds(ctx context.Context, _ client.Object) []reconcile.Request {
	seeds := &gardencorev1beta1.SeedList{}
	if err := r.Client.List(ctx, seeds, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(seeds.Items))
	for i := range seeds.Items {
		requests = append(requests, requestFor(seeds.Items[i].Name))
	}
	return requests
}

func seedOfInstallation(_ context.Context, object client.Object) []reconcile.Request {
	installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
	if !ok || installation.Spec.SeedRef == nil {
		return nil
	}
	return []reconcile.Request{requestFor(installation.Spec.SeedRef.Name)}
}

func seedsOfShoot(_ context.Context, object client.Object) []reconcile.Request {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	if !ok {
		return nil
	}
	return requestsFor(shoot.Spec.SeedName, shoot.Status.SeedName)
}

func seedOfBucket(_ context.Context, object client.Object) []reconcile.Request {
	bucket, ok := object.(*gardencorev1beta1.BackupBucket)
	if !ok {
		return nil
	}
	return requestsFor(bucket.Spec.SeedName)
}

func seedsOfEntry(_ context.Context, object client.Object) []reconcile.Request {
	entry, ok := object.(*gardencorev1beta1.BackupEntry)
	if !ok {
		return nil
	}
	return requestsFor(entry.Spec.SeedName, entry.Status.SeedName)
}

func requestsFor(seeds ...*string) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range seeds {
		if name != nil {
			requests = append(requests, requestFor(*name))
		}
	}
	return requests
}

func requestFor(seed string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: seed}}
}
