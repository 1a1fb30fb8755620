// SPDX-License-Identifier: Apache-2.0

package seedcare

import (
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "seed-care"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler checks the components of one seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.SeedCareControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: 1, MaxDelay: r.Config.SyncPeriod.Duration}).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(r.own()))
	return kit.Complete(b, controllerName, r)
}

// own lets the own seed start a check when it appears, when its reconciliation has ended, and when operations on its shoots are
// stopped or released; further checks follow by themselves.
func (r *Reconciler) own() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return e.Object.GetName() == r.SeedName },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectNew.GetName() == r.SeedName && (succeeded(e.ObjectNew) && !succeeded(e.ObjectOld) || stopped(e.ObjectNew) != stopped(e.ObjectOld))
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func stopped(object client.Object) bool {
	seed, ok := object.(*gardencorev1beta1.Seed)
	return ok && query.EmergencyStopped(seed)
}

func succeeded(object client.Object) bool {
	seed, ok := object.(*gardencorev1beta1.Seed)
	return ok && seed.Status.LastOperation != nil && seed.Status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded
}
