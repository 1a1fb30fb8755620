// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Concerned is the predicate of namespaces.
func (r *Reconciler) Concerned() predicate.Predicate { return r.concerned() }

// OfServers is the predicate of endpoints.
func OfServers() predicate.Predicate { return ofServers() }

// Home is the namespace of a changed policy.
func Home(ctx context.Context, policy client.Object) []reconcile.Request { return home(ctx, policy) }
