// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "seed-namespace"

// prefix and the name of a Seed make the name of its namespace.
const prefix = "seed-"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the namespaces of seeds. It reads Secrets around the cache, which holds only their metadata.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Secrets are watched by their metadata.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.Namespace{}).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.concerned), builder.WithPredicates(predicate.NewPredicateFuncs(concerns)))
	return kit.Complete(b, controllerName, r)
}

// concerns lets sources and copies through.
func concerns(secret client.Object) bool {
	_, labelled := secret.GetLabels()[gardencorev1beta1.LabelRole]
	return labelled && (secret.GetNamespace() == gardencorev1beta1.NamespaceGarden || strings.HasPrefix(secret.GetNamespace(), prefix))
}

// concerned maps a source to every seed and a copy to its own (GCM-SEED-3). A failed list loses nothing: the next change of
// a seed copies everything.
func (r *Reconciler) concerned(ctx context.Context, secret client.Object) []reconcile.Request {
	if secret.GetNamespace() != gardencorev1beta1.NamespaceGarden {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: strings.TrimPrefix(secret.GetNamespace(), prefix)}}}
	}
	seeds := &gardencorev1beta1.SeedList{}
	if err := r.Client.List(ctx, seeds, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	requests := make([]reconcile.Request, 0, len(seeds.Items))
	for i := range seeds.Items {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: seeds.Items[i].Name}})
	}
	return requests
}
