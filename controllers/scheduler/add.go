// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "scheduler"

// How soon a shoot that fits no seed is tried again: events of seeds do not start an attempt (SCHED-BIND-4).
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 30 * time.Second
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler binds shoots to seeds. It reads config maps of region distances around the cache: a cache of all config maps is
// not worth its memory.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.SchedulerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if _, err := ParseStrategy(string(r.strategy())); err != nil {
		return err
	}
	queue := kit.Workers(r.Config.ConcurrentSyncs)
	queue.BaseDelay, queue.MaxDelay = firstRetry, lastRetry
	b := r.Controller(clusters, controllerName, queue).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(wanted()))
	return kit.Complete(b, controllerName, r)
}

func (r *Reconciler) strategy() Strategy {
	return Strategy(r.Config.CandidateDeterminationStrategy)
}

// wanted lets creates, and updates that change the spec, of waiting shoots through.
func wanted() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			shoot, ok := e.Object.(*gardencorev1beta1.Shoot)
			return ok && Wants(shoot)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*gardencorev1beta1.Shoot)
			if !ok {
				return false
			}
			after, ok := e.ObjectNew.(*gardencorev1beta1.Shoot)
			return ok && Wants(after) && !equality.Semantic.DeepEqual(before.Spec, after.Spec)
		},
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
