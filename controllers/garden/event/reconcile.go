// SPDX-License-Identifier: Apache-2.0

package event

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconcile deletes the Event if its time has come, and otherwise comes back then. An Event that has just happened again is
// in another version and stays.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	e := &corev1.Event{}
	if err := r.Client.Get(ctx, request.NamespacedName, e); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if AboutShoot(e) {
		return reconcile.Result{}, nil
	}
	if left := LastSeen(e).Add(r.Config.TTLNonShootEvents.Duration).Sub(r.Clock.Now()); left > 0 {
		return kit.Result(kit.RequeueAfter(left), nil)
	}
	seen := client.Preconditions{UID: &e.UID, ResourceVersion: &e.ResourceVersion}
	if err := r.Client.Delete(ctx, e, seen); client.IgnoreNotFound(err) != nil {
		return kit.Result(kit.Stop(), fmt.Errorf("delete event %q: %w", request.NamespacedName, err))
	}
	return reconcile.Result{}, nil
}
