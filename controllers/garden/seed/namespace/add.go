// SPDX-License-Identifier: Apache-2.0

package namespace

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "seed-namespace"

// prefix and the name of a Seed make the name of its namespace.
const prefix = "seed-"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the namespaces of seeds. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden through the cache.
	Client client.Client
	// Reader reads secrets past the cache: the cache holds only their metadata.
	Reader client.Reader
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager implements kit.Adder. Secrets are watched by their metadata.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Reader == nil {
		r.Reader = mgr.GetAPIReader()
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.Namespace{}).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.concerned), builder.WithPredicates(predicate.NewPredicateFuncs(concerns))).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
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
