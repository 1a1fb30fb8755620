// SPDX-License-Identifier: Apache-2.0

package shootstate

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

const controllerName = "shoot-state"

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler saves the states of the shoots of a seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ShootStateControllerConfiguration
	// Random returns a random time below a limit that is not 0. Defaults to a uniform distribution.
	Random func(limit time.Duration) time.Duration
}

// AddToManager implements kit.Adder. Without workers, no state is saved (GLET-STATE-2).
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	if *r.Config.ConcurrentSyncs <= 0 {
		return nil
	}
	if r.Random == nil {
		r.Random = rand.N[time.Duration]
	}
	queue := kit.Workers(r.Config.ConcurrentSyncs)
	queue.BaseDelay, queue.MaxDelay = 10*time.Second, retry
	b := r.Controller(clusters, controllerName, queue).Watches(&gardencorev1beta1.Shoot{}, r.arrivals())
	return kit.Complete(b, controllerName, r)
}

// arrivals enqueues the shoots that this seed gets. Those that it has when the gardenlet starts come one by one over some time, however many
// there are; afterwards each comes back by itself.
func (r *Reconciler) arrivals() handler.Funcs {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	request := func(object client.Object) reconcile.Request {
		return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			switch {
			case !r.mine(e.Object):
			case e.IsInInitialList:
				q.AddAfter(request(e.Object), r.schedule().First())
			default:
				q.Add(request(e.Object))
			}
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if r.mine(e.ObjectNew) && !r.mine(e.ObjectOld) {
				q.Add(request(e.ObjectNew))
			}
		},
	}
}

// mine reports whether this seed runs the control plane of a shoot.
func (r *Reconciler) mine(object client.Object) bool {
	s, ok := object.(*gardencorev1beta1.Shoot)
	return ok && shoot.Responsible(s) == r.SeedName
}

func (r *Reconciler) schedule() Schedule {
	return Schedule{Period: r.Config.SyncPeriod.Duration, Random: r.Random}
}
