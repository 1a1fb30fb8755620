// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"math/rand/v2"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/heartbeat"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

const controllerName = "shoot-care"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler checks the shoots of a seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ShootCareControllerConfiguration

	heartbeats heartbeat.Monitor
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Queue{Concurrency: *r.Config.ConcurrentSyncs, MaxDelay: r.Config.SyncPeriod.Duration}).
		WatchesRawSource(source.Kind(clusters.Garden.GetCache(), &gardencorev1beta1.Shoot{}, r.enqueue()))
	return kit.Complete(b, controllerName, r)
}

// events are the handlers of events of Shoots, queue is the queue of the controller.
type (
	events = handler.TypedFuncs[*gardencorev1beta1.Shoot, reconcile.Request]
	queue  = workqueue.TypedRateLimitingInterface[reconcile.Request]
)

// enqueue checks a new shoot at once, and those that exist at the start spread over a period; then again when an operation has
// succeeded or the shoot was bound to the seed. All other checks are periodic, and sooner after something has turned bad. The client
// of a shoot that is deleted or has left the seed is dropped.
func (r *Reconciler) enqueue() events {
	request := func(s *gardencorev1beta1.Shoot) reconcile.Request {
		return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}
	}
	return events{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*gardencorev1beta1.Shoot], q queue) {
			switch s := e.Object; {
			case !r.mine(s):
			case s.Status.ObservedGeneration == s.Generation:
				q.AddAfter(request(s), rand.N(r.Config.SyncPeriod.Duration)) //nolint:gosec // not a secret
			default:
				q.Add(request(s))
			}
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*gardencorev1beta1.Shoot], q queue) {
			before, after := e.ObjectOld, e.ObjectNew
			succeeded := operation.Succeeded(after.Status.LastOperation) && !operation.Succeeded(before.Status.LastOperation)
			switch {
			case !r.mine(after) && r.mine(before):
				r.Shoots.Drop(before.Status.TechnicalID)
			case r.mine(after) && (succeeded || !r.mine(before)):
				q.Add(request(after))
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*gardencorev1beta1.Shoot], _ queue) {
			r.Shoots.Drop(e.Object.Status.TechnicalID)
		},
	}
}

// checkPlace returns an error if the namespace that the status names is not that of the shoot.
func (r *Reconciler) checkPlace(ctx context.Context, s *gardencorev1beta1.Shoot) error {
	return shoot.CheckPlace(ctx, r.SeedClient, s)
}

func (r *Reconciler) mine(s *gardencorev1beta1.Shoot) bool {
	return shoot.Responsible(s) == r.SeedName
}
