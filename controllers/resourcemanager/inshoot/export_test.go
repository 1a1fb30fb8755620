// SPDX-License-Identifier: Apache-2.0

package inshoot

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// ListTimeout is how long a list may take.
const ListTimeout = listTimeout

// List acts on all objects of a kind, and returns from which version on changes are watched.
func List(ctx context.Context, shoot *kit.Shoot, kind Kind, act func(object client.Object)) (string, error) {
	version, _, err := list(ctx, shoot, kind, func(_ context.Context, object client.Object) bool {
		act(object)
		return false
	})
	return version, err
}

// Follow carries out the orders of a reconciler that has no manager.
func (r *Reconciler) Follow(ctx context.Context) error { return r.follow(ctx) }

// Prepare does what AddToManager does without a manager.
func (r *Reconciler) Prepare() { r.orders = make(chan order) }
