// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Appearances admits the events of extension objects that start a pass.
func Appearances() predicate.TypedPredicate[client.Object] {
	return appearances()
}

// Responsible maps an extension object of a kind to installations.
func Responsible(ctx context.Context, r *Reconciler, kind string, object client.Object) []reconcile.Request {
	return r.responsible(kind)(ctx, object)
}
