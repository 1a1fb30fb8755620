// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"time"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// ReconcileGraph is what makes a cluster fit for shoots. The identity is that of the cluster.
func ReconcileGraph(engine deploy.Engine, identity string) (*flow.Graph, error) {
	return flow.Compile("Seed reconciliation",
		flow.Task{
			ID: "definitions", Title: "Deploying custom resource definitions", Timeout: time.Minute,
			Do: func(ctx context.Context) error { return ApplyDefinitions(ctx, engine) },
		},
		flow.Task{
			ID: "namespace", Title: "Deploying the namespace garden", Timeout: time.Minute,
			Do: func(ctx context.Context) error { return engine.Apply(ctx, gardenNamespace()) },
		},
		flow.Task{
			ID: "identity", Title: "Deploying the cluster identity", Timeout: time.Minute, After: []flow.ID{"definitions", "namespace"},
			Do: func(ctx context.Context) error { return applyIdentity(ctx, engine, identity) },
		},
	)
}
