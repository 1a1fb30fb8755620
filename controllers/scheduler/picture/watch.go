// SPDX-License-Identifier: Apache-2.0

package picture

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// OfSeeds keeps the seeds of the picture up to date. It enqueues nothing: seeds do not start an attempt (SCHED-BIND-4). A
// controller does not start before its handlers have seen all objects, so that the picture is complete by then.
func (p *Picture) OfSeeds() handler.EventHandler {
	return follow(p.SetSeed, func(seed *gardencorev1beta1.Seed) { p.RemoveSeed(seed.Name) })
}

// OfShoots keeps the usage of the picture up to date. It enqueues nothing.
func (p *Picture) OfShoots() handler.EventHandler {
	return follow(p.SetShoot, p.RemoveShoot)
}

func follow[O client.Object](set, remove func(O)) handler.EventHandler {
	call := func(object client.Object, tell func(O)) {
		if typed, ok := object.(O); ok {
			tell(typed)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			call(e.Object, set)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if e.ObjectOld.GetUID() != e.ObjectNew.GetUID() {
				call(e.ObjectOld, remove) // Deleted and created anew between two lists of the watch.
			}
			call(e.ObjectNew, set)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			call(e.Object, remove)
		},
	}
}
