// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// Actor does what objects of one kind ask for. Every method is safe to repeat, and may return an error made by kit.Wait to be
// called again without the run counting as failed. What a method changes in the status of the object is written at the end
// of the run; the rest of the object is only read. The cluster is nil for objects that do not belong to a shoot.
type Actor[T gardenextensionsv1alpha1.Object] interface {
	// Reconcile brings about what the spec says. It serves the operations Create, Reconcile and Restore.
	Reconcile(ctx context.Context, object T, cluster *Cluster) error
	// Delete removes what Reconcile made.
	Delete(ctx context.Context, object T, cluster *Cluster) error
}

// Migrator is an Actor that keeps something when the control plane of the shoot moves to another seed, because it is in the
// shoot or still needed. For other actors a migration is a deletion.
type Migrator[T gardenextensionsv1alpha1.Object] interface {
	// Migrate removes what Reconcile made in the seed, except what is needed until the namespace is deleted.
	Migrate(ctx context.Context, object T, cluster *Cluster) error
}

// Access is what actors act with. Actors embed it.
type Access struct {
	// Reader reads from the seed without a cache.
	Reader client.Reader
	// Seed applies objects in the seed. Its owner and clock are those of the extension.
	Seed deploy.Engine
	// Shoot returns the access to the shoot with that control-plane namespace.
	Shoot func(ctx context.Context, namespace string) (*kit.Shoot, error)
	// Images are the container images to deploy.
	Images Images
}

// ApplyInShoot applies objects in the shoot of a control-plane namespace.
func (a Access) ApplyInShoot(ctx context.Context, namespace string, objs ...client.Object) error {
	shoot, err := a.inShoot(ctx, namespace)
	if err == nil {
		err = shoot.Apply(ctx, objs...)
	}
	if err != nil {
		return fmt.Errorf("deploy into the shoot: %w", err)
	}
	return nil
}

// RemoveFromShoot deletes objects from the shoot of a control-plane namespace. Without an access Secret the shoot does not exist.
// A forced deletion ignores errors, because the shoot may not answer any more.
func (a Access) RemoveFromShoot(ctx context.Context, namespace string, cluster *Cluster, objs ...client.Object) error {
	shoot, err := a.inShoot(ctx, namespace)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = shoot.Delete(ctx, objs...)
	}
	if err != nil && !cluster.ForceDeleted() {
		return fmt.Errorf("remove from the shoot: %w", err)
	}
	return nil
}

func (a Access) inShoot(ctx context.Context, namespace string) (deploy.Engine, error) {
	shoot, err := a.Shoot(ctx, namespace)
	if err != nil {
		return deploy.Engine{}, err
	}
	return deploy.Engine{Client: shoot, Owner: a.Seed.Owner, Clock: a.Seed.Clock}, nil
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
