// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/managed"
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
	// Images are the container images to deploy.
	Images Images
}

// Name of the extension, and of its service account in shoots.
const Name = "provider-local"

// setPrefix begins the names of the ManagedResources of the extension.
const setPrefix = "extension-" + Type + "-"

// recheck is the time between two looks at what the resource manager does.
const recheck = 500 * time.Millisecond

// set names a set of objects in a shoot. What belongs to the shoot itself is spared when it is cleaned before its deletion: the resource
// manager would make it again.
func (a Access) set(namespace, name string) managed.Set {
	return managed.Set{
		Namespace: namespace, Name: setPrefix + name, InjectLabels: map[string]string{gardencorev1beta1.LabelShootNoCleanup: "true"},
	}
}

// ApplyInShoot has a named set of objects applied in the shoot of a control-plane namespace, by the resource manager of the seed.
func (a Access) ApplyInShoot(ctx context.Context, namespace, name string, objs ...client.Object) error {
	set := a.set(namespace, name)
	err := set.Apply(ctx, a.Seed, objs...)
	if err == nil {
		err = set.Applied(ctx, a.Seed.Client)
	}
	if errors.Is(err, managed.ErrPending) {
		return kit.Wait(recheck, err.Error())
	}
	if err != nil {
		return fmt.Errorf("deploy into the shoot: %w", err)
	}

	return nil
}

// RemoveFromShoot has a set deleted from the shoot. In the deletion of a shoot nobody waits for that: the objects go with the cluster,
// pods whose machines are gone would stay for long, and the cluster may not answer any more.
func (a Access) RemoveFromShoot(ctx context.Context, namespace, name string, cluster *Cluster) error {
	if cluster != nil && cluster.Shoot.DeletionTimestamp != nil {
		return a.Forget(ctx, namespace, name)
	}

	return removed(a.set(namespace, name).Delete(ctx, a.Seed))
}

// Forget leaves the objects of a set in the shoot, to whom it belongs next.
func (a Access) Forget(ctx context.Context, namespace, name string) error {
	return removed(a.set(namespace, name).Forget(ctx, a.Seed))
}

func removed(gone bool, err error) error {
	if err != nil {
		return fmt.Errorf("remove from the shoot: %w", err)
	}
	if !gone {
		return kit.Wait(recheck, "waiting until the resource manager has removed objects from the shoot")
	}

	return nil
}

// Images are the container images that the extension deploys. They are values of its chart as well.
type Images struct {
	// Terrarium holds the terrarium binary.
	Terrarium string `json:"image"`
	// Machine is the image of machines whose cloud profile names none.
	Machine string `json:"machineImage"`
	// NetworkAgent holds the network agent and the agent that serves volumes.
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
