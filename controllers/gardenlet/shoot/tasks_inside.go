// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
	"github.com/terrarium-garden/terrarium/controllers/component/tunnel"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	reached "github.com/terrarium-garden/terrarium/controllers/gardenlet/tunnel"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/managed"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
)

const (
	// systemSets is the prefix of the names of the ManagedResources with what every shoot has inside. Earlier versions had inventories of
	// these names in the shoot.
	systemSets = "shoot-core-"
	// letGoTimeout is how long the resource manager may take to delete what extensions have in a shoot.
	letGoTimeout = 10 * time.Minute
	letGoPoll    = 500 * time.Millisecond
	// tunnelTimeout is how long the agents of the tunnel may take to start on nodes that are ready.
	tunnelTimeout = 5 * time.Minute
	tunnelPoll    = 500 * time.Millisecond
)

// inside is the components that every shoot has in its own cluster. The resource manager of the seed applies them.
type inside struct {
	ground

	secrets authorities
	images  map[string]string
	shoots  *kit.Shoots
	values  values
}

func (i inside) fragment(found remains) fragment {
	components := &assembly.Assembly[facts.Shoot]{
		Components: lists.System(), Facts: i.facts, Namespace: metav1.NamespaceSystem, Prefix: systemSets,
		Secrets: i.secrets.Manager, Images: i.images, Addresses: i.values.addresses,
		Managed: &assembly.Managed{Seed: i.engine(), Namespace: i.facts.Namespace},
		Reads:   []flow.Slot{i.values.shootClient},
		Engine: func(ctx context.Context) deploy.Engine {
			return deploy.Engine{Client: i.values.shootClient.Get(ctx), Owner: fieldOwner, Clock: i.clock}
		},
	}

	if i.nodesUnknown() {
		components.Learn = map[component.Name]assembly.Lesson[facts.Shoot]{
			shootsystem.Name: {Reads: []flow.Slot{i.values.infrastructure}, Facts: i.learnNodes},
		}
	}
	sized := sizing{ground: i.ground}
	return fragment{
		deploy: append(components.Deploy(assembly.Order{After: after("resource-manager-access"), Besides: sized.besides(), Skip: i.facts.Power != facts.Awake}), flow.Task{
			ID: "tunnel-wait", Title: "Waiting until the API server reaches the nodes", Reads: []flow.Slot{i.values.shootClient}, Timeout: tunnelTimeout,
			After: after(tunnel.Task, "nodes-ready"), Skip: !i.facts.Workers() || i.facts.Power != facts.Awake, Do: i.awaitTunnel,
		}),
		destroy: []flow.Task{{
			ID: "shoot-resources-delete", Title: "Deleting the managed resources of the cluster",
			After:   slices.Concat(sized.deleted(), machineControl{ground: i.ground}.deleted(), after("resource-manager-access", cleaned, "controlplane-delete-wait", "worker-delete-wait")),
			Timeout: letGoTimeout, Skip: !found.namespaceThere,
			Do: func(ctx context.Context) error { return i.letGo(ctx, found.cleanable()) },
		}},
	}
}

// nodesUnknown reports whether it takes the answer of the provider to know the range of the nodes. Later runs find it in the status.
func (i inside) nodesUnknown() bool {
	return i.facts.Workers() && i.facts.Power == facts.Awake && len(i.facts.NodeNetworks()) == 0
}

// learnNodes completes the networks of a shoot. The Shoot itself is shared by all tasks and does not change.
func (i inside) learnNodes(ctx context.Context, f facts.Shoot) facts.Shoot {
	known := *f.Shoot
	known.Status.Networking = Networks(f.Shoot, i.values.infrastructure.Get(ctx))
	f.Shoot = &known
	return f
}

// awaitTunnel waits until something in the cluster has answered the API server. Where all pools may be empty there may be nothing.
func (i inside) awaitTunnel(ctx context.Context) error {
	nodes, err := nodesLeft(ctx, i.values.shootClient.Get(ctx))
	if err != nil || nodes.none() {
		return err
	}
	shoot, err := i.shoots.Get(ctx, i.facts.Namespace)
	if err != nil {
		return err
	}
	return flow.Until(ctx, i.clock, flow.Every(tunnelPoll), func(ctx context.Context) error { return reached.Check(ctx, shoot) })
}

// letGo ends the ManagedResources of the shoot while its API server runs. What the gardenlet has made inside goes with the cluster. What
// extensions have made may have outer effects and is deleted, if the cluster can still be reached.
func (i inside) letGo(ctx context.Context, reachable bool) error {
	return flow.Until(ctx, i.clock, flow.Every(letGoPoll), func(ctx context.Context) error {
		list := &gardenresourcesv1alpha1.ManagedResourceList{}
		if err := i.seed.List(ctx, list, client.InNamespace(i.facts.Namespace)); err != nil {
			return fmt.Errorf("list managed resources: %w", err)
		}
		var left leftover
		for n := range list.Items {
			mr := &list.Items[n]
			if managedresource.ClassOf(mr) != gardenresourcesv1alpha1.ClassDefault {
				continue
			}
			set := managed.Set{Namespace: mr.Namespace, Name: mr.Name}
			end := set.Delete
			if !reachable || strings.HasPrefix(mr.Name, systemSets) {
				end = set.Forget
			}
			gone, err := end(ctx, i.engine())
			if err != nil {
				return err
			}
			if !gone {
				left.add(fmt.Sprintf("ManagedResource %q", mr.Name))
			}
		}
		if !left.none() {
			return errors.New("still there: " + left.String())
		}

		return nil
	})
}
