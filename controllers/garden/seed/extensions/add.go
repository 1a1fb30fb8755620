// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName    = "seed-extensions"
	defaultSyncPeriod = 30 * time.Second
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler judges the extensions of seeds. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden through the cache.
	Client client.Client
	// Clock stamps the condition.
	Clock clock.PassiveClock
	// SyncPeriod is how often each seed is looked at.
	SyncPeriod time.Duration
	// Threshold is how long a bad finding shows as Progressing first; 0 shows it at once.
	Threshold time.Duration
	// Queue bounds the work.
	Queue kit.Queue
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.SyncPeriod <= 0 {
		r.SyncPeriod = defaultSyncPeriod
	}
	err := builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.Seed{}, builder.WithPredicates(conditionChanges())).
		Watches(&gardencorev1beta1.ControllerInstallation{}, handler.EnqueueRequestsFromMapFunc(seedOf), builder.WithPredicates(installationChanges())).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
}

func seedOf(_ context.Context, object client.Object) []reconcile.Request {
	installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
	if !ok || installation.Spec.SeedRef == nil {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: installation.Spec.SeedRef.Name}}}
}

// conditionChanges lets new seeds through, and those whose condition somebody else changed: a gardenlet sets it to
// Progressing to have it judged again.
func conditionChanges() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*gardencorev1beta1.Seed)
			if !ok {
				return false
			}
			after, ok := e.ObjectNew.(*gardencorev1beta1.Seed)
			return ok && !equality.Semantic.DeepEqual(ready(before), ready(after))
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

func ready(seed *gardencorev1beta1.Seed) *gardencorev1beta1.Condition {
	return kit.FindCondition(seed.Status.Conditions, gardencorev1beta1.ConditionTypeExtensionsReady)
}

func installationChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*gardencorev1beta1.ControllerInstallation)
		if !ok {
			return false
		}
		after, ok := e.ObjectNew.(*gardencorev1beta1.ControllerInstallation)
		return ok && !equality.Semantic.DeepEqual(before.Status.Conditions, after.Status.Conditions)
	}}
}
