// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"time"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// The ids of the tasks; they show as description of the last operation.
const (
	taskDefinitions = "Deploy custom resource definitions"
	taskNamespace   = "Deploy namespace garden"
	taskIdentity    = "Deploy cluster identity"
)

// ReconcileGraph is what makes a cluster fit for shoots. The identity is that of the cluster.
func ReconcileGraph(engine deploy.Engine, identity string) (*flow.Graph, error) {
	return flow.Compile("Seed reconciliation",
		flow.Task{
			ID: taskDefinitions, Timeout: time.Minute,
			Do: func(ctx context.Context) error { return ApplyDefinitions(ctx, engine) },
		},
		flow.Task{
			ID: taskNamespace, Timeout: time.Minute,
			Do: func(ctx context.Context) error { return engine.Apply(ctx, gardenNamespace()) },
		},
		flow.Task{
			ID: taskIdentity, Timeout: time.Minute, After: []string{taskDefinitions, taskNamespace},
			Do: func(ctx context.Context) error { return applyIdentity(ctx, engine, identity) },
		},
	)
}
