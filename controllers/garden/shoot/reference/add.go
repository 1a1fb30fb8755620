// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-reference"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler protects what shoots reference. It reads shoots around the cache before it releases an object: an old list
// would release too much.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(changes()))
	return kit.Complete(b, controllerName, r)
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
