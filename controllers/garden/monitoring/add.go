// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "monitoring-credentials"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler keeps the credentials. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden through the cache.
	Client client.Client
	// Reader reads secrets past the cache: the cache holds only their metadata.
	Reader client.Reader
	// Clock stamps rotations.
	Clock clock.PassiveClock
}

// AddToManager implements kit.Adder. All work is one piece, so it has one worker.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Reader == nil {
		r.Reader = mgr.GetAPIReader()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: gardencorev1beta1.NamespaceGarden}}}
	})
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		// The namespace is there from the first start on; it is what asks for the first credentials.
		Watches(&corev1.Namespace{}, all, builder.WithPredicates(predicate.NewPredicateFuncs(isGarden))).
		WatchesMetadata(&corev1.Secret{}, all, builder.WithPredicates(predicate.NewPredicateFuncs(concerns))).
		WithOptions(kit.Queue{Concurrency: 1}.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

func isGarden(namespace client.Object) bool {
	return namespace.GetName() == gardencorev1beta1.NamespaceGarden
}

// concerns lets credentials in the namespace garden through.
func concerns(secret client.Object) bool {
	return secret.GetNamespace() == gardencorev1beta1.NamespaceGarden &&
		secret.GetLabels()[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleGlobalMonitoring
}
