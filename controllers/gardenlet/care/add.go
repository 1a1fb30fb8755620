// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "shoot-care"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler checks the shoots of a seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ShootCareControllerConfiguration
	// Spread picks a moment within a period for the first check after a start, so that not every shoot is checked at once.
	Spread func(period time.Duration) time.Duration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	r.Spread = func(period time.Duration) time.Duration { return rand.N(period) } //nolint:gosec // no secret
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: *r.Config.ConcurrentSyncs, MaxDelay: r.Config.SyncPeriod.Duration}).
		Watches(&gardencorev1beta1.Shoot{}, r.enqueue())
	return kit.Complete(b, controllerName, r)
}

// enqueue checks a shoot that is new at once and those of a start spread over a period; then again whenever an operation has
// ended well or a seed was given. Everything else is periodic. The client of a shoot that is gone or has left is dropped.
func (r *Reconciler) enqueue() handler.EventHandler {
	request := func(object client.Object) reconcile.Request {
		return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			s, ok := e.Object.(*gardencorev1beta1.Shoot)
			switch {
			case !ok || !r.mine(s):
			case s.Status.ObservedGeneration == s.Generation:
				queue.AddAfter(request(s), r.Spread(r.Config.SyncPeriod.Duration))
			default:
				queue.Add(request(s))
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			before, ok := e.ObjectOld.(*gardencorev1beta1.Shoot)
			after, okToo := e.ObjectNew.(*gardencorev1beta1.Shoot)
			if ok && okToo && r.mine(before) && !r.mine(after) {
				r.Shoots.Drop(before.Status.TechnicalID)
			}
			if !ok || !okToo || !r.mine(after) {
				return
			}
			if !r.mine(before) || (succeeded(after) && !succeeded(before)) {
				queue.Add(request(after))
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if s, ok := e.Object.(*gardencorev1beta1.Shoot); ok {
				r.Shoots.Drop(s.Status.TechnicalID)
			}
		},
	}
}

func (r *Reconciler) mine(s *gardencorev1beta1.Shoot) bool {
	return shoot.Responsible(s) == r.SeedName
}

func succeeded(s *gardencorev1beta1.Shoot) bool {
	return s.Status.LastOperation != nil && s.Status.LastOperation.State == gardencorev1beta1.LastOperationStateSucceeded
}
