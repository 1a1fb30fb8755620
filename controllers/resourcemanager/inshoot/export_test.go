// SPDX-License-Identifier: Apache-2.0

package inshoot

import "context"

// Follow carries out the orders of a reconciler that has no manager.
func (r *Reconciler) Follow(ctx context.Context) error { return r.follow(ctx) }

// Prepare does what AddToManager does without a manager.
func (r *Reconciler) Prepare() { r.orders = make(chan order) }
