// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// WithIstio is the reconciler of a cluster that knows VirtualServices.
func (r *Reconciler) WithIstio() *Reconciler {
	r.istio = true
	return r
}

// WantedBy are the Services that a pod has a label for.
func (r *Reconciler) WantedBy(ctx context.Context, pod client.Object) []reconcile.Request {
	return r.wantedBy(ctx, pod)
}

// Within are the Services that a changed namespace is about.
func (r *Reconciler) Within(ctx context.Context, namespace client.Object) []reconcile.Request {
	return r.within(ctx, namespace)
}

// Asking and Relabelled are the predicates of pods and namespaces.
func Asking() predicate.Predicate { return asking() }

// Relabelled is the predicate of namespaces.
func Relabelled() predicate.Predicate { return relabelled() }

// Led are the Services that a route leads to, Owner is the one that a policy was made for.
func Led(ctx context.Context, route client.Object) []reconcile.Request { return led(ctx, route) }

// Owner is the Service that a policy was made for.
func Owner(ctx context.Context, policy client.Object) []reconcile.Request { return owner(ctx, policy) }
