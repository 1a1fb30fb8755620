// SPDX-License-Identifier: Apache-2.0

package care

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

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName    = "controllerinstallation-care"
	defaultSyncPeriod = 30 * time.Second
	// impatientPeriod is the time between two checks while something is not as it should be.
	impatientPeriod = 2 * time.Second
)

// Reconciler checks the extensions of one seed. Unset fields are filled by AddToManager.
type Reconciler struct {
	// GardenClient reaches the garden; it reads ControllerInstallations from the cache.
	GardenClient client.Client
	// SeedClient reaches the seed, around any cache.
	SeedClient client.Client
	// Clock tells the time.
	Clock clock.Clock
	// SeedName is the name of the seed. It is required.
	SeedName string
	// SyncPeriod is the time between two checks of an extension that is well.
	SyncPeriod time.Duration
	// Queue bounds the work.
	Queue kit.Queue
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
		For(&gardencorev1beta1.ControllerInstallation{},
			builder.WithPredicates(controllerinstallation.Of(r.SeedName), predicate.Or(predicate.GenerationChangedPredicate{}, installed()))).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

// installed starts a check as soon as an extension was installed, instead of some time later.
func installed() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc:  func(e event.UpdateEvent) bool { return isInstalled(e.ObjectNew) && !isInstalled(e.ObjectOld) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func isInstalled(object client.Object) bool {
	installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
	return ok && kit.ConditionIs(installation.Status.Conditions, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTrue)
}
