// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "scheduler"

const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 30 * time.Second
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler binds shoots to seeds. Unset fields are filled by AddToManager.
type Reconciler struct {
	// Client reaches the garden. Lists come from its cache.
	Client client.Client
	// Reader reads config maps of region distances, for which no cache of all config maps is worth its memory.
	Reader client.Reader
	// Recorder writes the events of shoots.
	Recorder events.EventRecorder
	// Clock stamps the last operation.
	Clock clock.PassiveClock
	// Strategy is how near a seed has to be; SameRegion if empty.
	Strategy Strategy
	// Queue bounds the work. Its delays are how soon a shoot that fits no seed is tried again, because events of seeds
	// do not start an attempt (SCHED-BIND-4).
	Queue kit.Queue
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	strategy, err := ParseStrategy(string(r.Strategy))
	if err != nil {
		return err
	}
	r.Strategy = strategy
	if r.Client == nil {
		r.Client = mgr.GetClient()
	}
	if r.Reader == nil {
		r.Reader = mgr.GetAPIReader()
	}
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder(controllerName)
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
	}
	if r.Queue.BaseDelay <= 0 {
		r.Queue.BaseDelay = firstRetry
	}
	if r.Queue.MaxDelay <= 0 {
		r.Queue.MaxDelay = lastRetry
	}
	err = builder.ControllerManagedBy(mgr).
		Named(controllerName).
		For(&gardencorev1beta1.Shoot{}, builder.WithPredicates(wanted())).
		WithOptions(r.Queue.Options()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add controller %q: %w", controllerName, err)
	}
	return nil
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
