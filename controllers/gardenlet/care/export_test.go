// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ConvertedIn returns the names of the definitions that a webhook converts.
func ConvertedIn(ctx context.Context, access client.Reader) ([]string, error) {
	return convertedIn(ctx, access)
}

// Events are the handlers of events of Shoots.
func (r *Reconciler) Events() handler.TypedFuncs[*gardencorev1beta1.Shoot, reconcile.Request] {
	return r.enqueue()
}
