// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// Actor does what objects of one kind ask for. Every method is safe to repeat, and may return an error made by kit.Wait to be
// called again without the run counting as failed. What a method changes in the status of the object is written at the end
// of the run; the rest of the object is only read. The cluster is nil for objects that do not belong to a shoot.
type Actor[T gardenextensionsv1alpha1.Object] interface {
	// Reconcile makes the world as the spec says. It serves the operations Create, Reconcile and Restore.
	Reconcile(ctx context.Context, object T, cluster *Cluster) error
	// Delete removes what Reconcile made.
	Delete(ctx context.Context, object T, cluster *Cluster) error
}

// Migrator is an Actor that leaves something alone when the control plane of the shoot moves to another seed, because it is in
// the shoot or still needed. For other actors a migration is a deletion.
type Migrator[T gardenextensionsv1alpha1.Object] interface {
	// Migrate removes what Reconcile made in the seed and what nobody needs until the namespace goes.
	Migrate(ctx context.Context, object T, cluster *Cluster) error
}

// Access is what actors act with. Actors embed it.
type Access struct {
	// Reader reads from the seed without a cache.
	Reader client.Reader
	// Seed applies objects in the seed.
	Seed deploy.Engine
	// Shoots applies objects in shoots.
	Shoots Shoots
	// Clock gives the times in the status.
	Clock clock.WithTicker
	// Images are deployed.
	Images Images
}

// Images are the container images that the extension deploys. They are values of its chart as well.
type Images struct {
	// Terrarium holds the terrarium binary.
	Terrarium string `json:"image"`
	// Machine is the image of machines whose cloud profile names none.
	Machine string `json:"machineImage"`
	// NetworkAgent holds the network agent.
	NetworkAgent string `json:"networkAgentImage"`
	// Pause is the image of pod sandboxes on machines.
	Pause string `json:"pauseImage"`
	// Archives is a folder on the nodes of the seed with image archives that machines import; empty for none.
	Archives string `json:"imageArchives"`
}

// ConfigurationProblem marks an error that goes away when the user changes the shoot or the cloud profile.
func ConfigurationProblem(err error) error {
	return operation.WithCodes(err, gardencorev1beta1.ErrorCodeConfigurationProblem)
}
