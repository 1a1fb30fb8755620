// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-reference"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler protects what shoots reference. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden through the cache.
	Client client.Client
	// Reader reads past the cache: an object must not be released by an old list of shoots.
	Reader client.Reader
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Reader == nil {
		r.Reader = mgr.GetAPIReader()
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(changes())).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

// changes is GCM-SHOOTREF-5; finalizers count, because in deletion the shoot lets go when its own is gone.
func changes() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*gardencorev1beta1.Shoot)
		if !ok {
			return false
		}
		after, ok := e.ObjectNew.(*gardencorev1beta1.Shoot)
		return ok && (!slices.Equal(Of(before), Of(after)) || !slices.Equal(before.Finalizers, after.Finalizers) ||
			(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil))
	}}
}
