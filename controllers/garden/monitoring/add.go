// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "monitoring-credentials"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the credentials. It reads Secrets around the cache, which holds only their metadata.
type Reconciler struct {
	kit.Base
}

// AddToManager implements kit.Adder. All work is one piece, so it has one worker.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: gardencorev1beta1.NamespaceGarden}}}
	})
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: 1}).
		// The namespace is there from the first start on; it is what asks for the first credentials.
		Watches(&corev1.Namespace{}, all, builder.WithPredicates(predicate.NewPredicateFuncs(isGarden))).
		WatchesMetadata(&corev1.Secret{}, all, builder.WithPredicates(predicate.NewPredicateFuncs(concerns)))
	return kit.Complete(b, controllerName, r)
}

func isGarden(namespace client.Object) bool {
	return namespace.GetName() == gardencorev1beta1.NamespaceGarden
}

// concerns lets credentials in the namespace garden through.
func concerns(secret client.Object) bool {
	return secret.GetNamespace() == gardencorev1beta1.NamespaceGarden &&
		secret.GetLabels()[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleGlobalMonitoring
}
