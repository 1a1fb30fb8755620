// SPDX-License-Identifier: Apache-2.0

package care

import (
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Events are the handlers of events of Shoots.
func (r *Reconciler) Events() handler.TypedFuncs[*gardencorev1beta1.Shoot, reconcile.Request] {
	return r.enqueue()
}
