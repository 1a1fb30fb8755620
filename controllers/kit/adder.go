// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Adder adds one controller to the manager of a role. A role of the product is a list of adders.
type Adder interface {
	// AddToManager fills the unset fields of the reconciler from the clusters and registers its watches. It starts
	// nothing: the manager does.
	AddToManager(clusters Clusters) error
}

// Clusters are what the controllers of a role reach.
type Clusters struct {
	// Garden reaches the garden, and runs the controllers.
	Garden manager.Manager
	// Seed reaches the seed of a gardenlet. Its client reads without a cache. It is nil in the server.
	Seed cluster.Cluster
	// Shoots reaches the shoots of that seed. It is nil in the server.
	Shoots *Shoots
	// SeedName is the name of that seed.
	SeedName string
	// Clock tells the time to all controllers.
	Clock clock.Clock
}

// AddAll adds controllers one after the other.
func AddAll(clusters Clusters, adders ...Adder) error {
	for _, adder := range adders {
		if err := adder.AddToManager(clusters); err != nil {
			return err
		}
	}
	return nil
}

// Complete registers the reconciler with the watches that were built.
func Complete(b *builder.Builder, name string, r reconcile.Reconciler) error {
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("add controller %q: %w", name, err)
	}
	return nil
}
