// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"time"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// ReconcileGraph is what makes a cluster fit for shoots. The identity is that of the cluster.
func ReconcileGraph(engine deploy.Engine, seed *gardencorev1beta1.Seed, identity string) (*flow.Graph, error) {
	return flow.Compile("Seed reconciliation", append([]flow.Task{
		{
			ID: "definitions", Title: "Deploying custom resource definitions", Timeout: time.Minute,
			Do: func(ctx context.Context) error { return ApplyDefinitions(ctx, engine) },
		},
		{
			ID: "namespace", Title: "Deploying the namespace garden", Timeout: time.Minute,
			Do: func(ctx context.Context) error { return engine.Apply(ctx, gardenNamespace()) },
		},
		{
			ID: "identity", Title: "Deploying the cluster identity", Timeout: time.Minute, After: []flow.ID{"definitions", "namespace"},
			Do: func(ctx context.Context) error { return applyIdentity(ctx, engine, identity) },
		},
	}, components(engine, seed).Deploy(assembly.Order{After: []flow.ID{"namespace"}})...)...)
}

// deleteGraph is what takes the components of a seed away once there are no shoots any more.
func deleteGraph(engine deploy.Engine, seed *gardencorev1beta1.Seed) (*flow.Graph, error) {
	return flow.Compile("Seed deletion", components(engine, seed).Delete(assembly.Order{})...)
}

func components(engine deploy.Engine, seed *gardencorev1beta1.Seed) *assembly.Assembly[facts.Seed] {
	return &assembly.Assembly[facts.Seed]{
		Components: lists.Seed(), Facts: facts.Seed{Seed: seed}, Await: true, Namespace: gardencorev1beta1.NamespaceGarden,
		Engine: func(context.Context) deploy.Engine { return engine }, Addresses: assembly.Addresses{},
	}
}
