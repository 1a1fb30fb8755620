// SPDX-License-Identifier: Apache-2.0

package statuslabel

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconcile writes the label if it is wrong. The patch names this one label only, so it needs no lock: it cannot undo
// what others write.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	shoot := &gardencorev1beta1.Shoot{}
	if err := r.Client.Get(ctx, request.NamespacedName, shoot); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	word := Decide(shoot)
	if shoot.Labels[gardencorev1beta1.LabelShootStatus] == word {
		return reconcile.Result{}, nil
	}
	before := shoot.DeepCopy()
	if shoot.Labels == nil {
		shoot.Labels = map[string]string{}
	}
	shoot.Labels[gardencorev1beta1.LabelShootStatus] = word
	if err := r.Client.Patch(ctx, shoot, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return kit.Result(kit.Stop(), fmt.Errorf("label shoot %q %q: %w", request.NamespacedName, word, err))
	}
	return reconcile.Result{}, nil
}
