// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"fmt"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Adder adds one controller to the manager of a role. A role of the product is a list of adders.
type Adder interface {
	// AddToManager fills the unset fields of the reconciler from the clusters and registers its watches. The manager starts it.
	AddToManager(clusters Clusters) error
}

// Clusters are the clusters that the controllers of a role reach.
type Clusters struct {
	// Garden reaches the garden, and runs the controllers.
	Garden manager.Manager
	// Seed reaches the seed of a gardenlet. Its client reads without a cache. It is nil in the server.
	Seed cluster.Cluster
	// Shoots reaches the shoots of that seed. It is nil in the server.
	Shoots *Shoots
	// SeedName is the name of that seed.
	SeedName string
	// Clock is the clock of all controllers.
	Clock clock.Clock
	// LeaveOut are the controllers that do not run; nil if all do.
	LeaveOut *LeaveOut
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

// Base is what every controller of one cluster has. Reconcilers embed it. Fields that are set before the controller is
// added are kept, so that a test can set them.
type Base struct {
	// Client reads from the cache of the manager and writes to its cluster.
	Client client.Client
	// Reader reads around the cache.
	Reader client.Reader
	// Recorder writes events.
	Recorder events.EventRecorder
	// Clock gives the time.
	Clock clock.Clock
	// Queue bounds the work.
	Queue Queue
}

// Controller fills the unset fields for the garden and begins the controller with that name.
func (b *Base) Controller(clusters Clusters, name string, queue Queue) *builder.Builder {
	b.Clock = cmp.Or(b.Clock, clusters.Clock)
	mgr := clusters.Garden
	if clusters.LeaveOut.Has(name) {
		mgr = idle{mgr}
	}
	return b.ManagedBy(mgr, name, queue)
}

// ManagedBy is Controller for a process that reaches one cluster only, as an extension does.
func (b *Base) ManagedBy(mgr manager.Manager, name string, queue Queue) *builder.Builder {
	b.Client = cmp.Or(b.Client, mgr.GetClient())
	b.Reader = cmp.Or(b.Reader, mgr.GetAPIReader())
	b.Recorder = cmp.Or(b.Recorder, mgr.GetEventRecorder(name))
	b.Clock = cmp.Or[clock.Clock](b.Clock, clock.RealClock{})
	b.Queue = b.Queue.or(queue)
	return builder.ControllerManagedBy(mgr).Named(name).WithOptions(b.Queue.Options(b.Clock))
}

// SeedBase is what every controller of a gardenlet has: it watches the garden and acts in the seed, or the other way
// round. Reconcilers embed it. Fields that are set before the controller is added are kept, so that a test can set them.
type SeedBase struct {
	// GardenClient reaches the garden; Seeds, Shoots and ControllerInstallations of this seed come from the cache.
	GardenClient client.Client
	// GardenReader reads from the garden around the cache.
	GardenReader client.Reader
	// SeedClient reaches the seed around any cache.
	SeedClient client.Client
	// Shoots reaches the shoots of the seed.
	Shoots *Shoots
	// Recorder writes events of objects in the garden.
	Recorder events.EventRecorder
	// Clock gives the time.
	Clock clock.Clock
	// SeedName is the name of the seed.
	SeedName string
}

// Controller fills the unset fields and begins the controller with that name. It runs in the manager of the garden.
func (b *SeedBase) Controller(clusters Clusters, name string, queue Queue) *builder.Builder {
	garden := Base{Client: b.GardenClient, Reader: b.GardenReader, Recorder: b.Recorder, Clock: b.Clock}
	controller := garden.Controller(clusters, name, queue)
	b.GardenClient, b.GardenReader, b.Recorder, b.Clock = garden.Client, garden.Reader, garden.Recorder, garden.Clock
	b.SeedClient = cmp.Or(b.SeedClient, clusters.Seed.GetClient())
	b.Shoots = cmp.Or(b.Shoots, clusters.Shoots)
	b.SeedName = cmp.Or(b.SeedName, clusters.SeedName)
	return controller
}
