// SPDX-License-Identifier: Apache-2.0

package seedcare

import (
	"fmt"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName    = "seed-care"
	defaultSyncPeriod = 30 * time.Second
)

// Reconciler checks the components of one seed. Unset fields are filled by AddToManager.
type Reconciler struct {
	// GardenClient reaches the garden; it reads Seeds from the cache.
	GardenClient client.Client
	// SeedClient reaches the seed, around any cache.
	SeedClient client.Client
	// Clock tells the time.
	Clock clock.PassiveClock
	// SeedName is the name of the seed. It is required.
	SeedName string
	// SyncPeriod is the time between two checks.
	SyncPeriod time.Duration
	// Threshold is how long the condition is Progressing before it becomes False.
	Threshold time.Duration
}

// AddToManager registers the controller with the manager of the garden.
func (r *Reconciler) AddToManager(mgr manager.Manager, seed cluster.Cluster) error {
	if r.GardenClient == nil {
		r.GardenClient = mgr.GetClient()
	}
	if r.SeedClient == nil {
		r.SeedClient = seed.GetClient()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.SyncPeriod <= 0 {
		r.SyncPeriod = defaultSyncPeriod
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(r.own())).
		WithOptions(kit.Queue{Concurrency: 1, MaxDelay: r.SyncPeriod}.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
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
