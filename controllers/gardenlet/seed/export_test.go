// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// Finish ends a pass over the seed, all of which has gone well.
func (r *Reconciler) Finish(ctx context.Context, seed *gardencorev1beta1.Seed) error {
	_, err := r.finish(ctx, r.scopeOf(seed))
	return err
}

// Graph is the part of the reconciliation that is about extensions and what they are given. What comes before it is done.
func (a AddOns) Graph() (*flow.Graph, error) {
	var tasks []flow.Task
	for _, done := range []flow.ID{"definitions", "namespace", "resource-manager"} {
		tasks = append(tasks, flow.Task{ID: done, Title: "Done", Do: func(context.Context) error { return nil }})
	}
	return flow.Compile("Extensions of a seed", append(tasks, a.deploy()...)...)
}
