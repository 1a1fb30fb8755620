// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// systemSets is what the names of the inventories inside of a shoot begin with.
const systemSets = "shoot-core-"

// mode is what a flow does with a shoot.
type mode string

const (
	modeReconcile mode = "reconciliation"
	modeDelete    mode = "deletion"
)

// compose puts the flow of a mode together. A shoot is made from the ground up. It is taken apart in the order that the edges
// say: what its users made inside of it goes first, while the API server and the controllers that clean up still run; the
// machines follow, and everything that served them.
func compose(m mode, parts []fragment) (*flow.Graph, error) {
	var tasks []flow.Task
	for _, part := range parts {
		if m == modeDelete {
			tasks = append(tasks, part.destroy...)
			continue
		}
		tasks = append(tasks, part.deploy...)
	}
	return flow.Compile("Shoot cluster "+string(m), tasks...)
}

func after(ids ...flow.ID) []flow.ID {
	return ids
}

// reconcileGraph is the flow that makes a shoot, or brings it up to date.
func (o *operation) reconcileGraph(context.Context) (*flow.Graph, error) {
	return compose(modeReconcile, o.fragments(remains{}))
}

// deleteGraph is the flow that takes a shoot apart, as far as it is there.
func (o *operation) deleteGraph(ctx context.Context) (*flow.Graph, error) {
	found, err := o.ground().inspect(ctx)
	if err != nil {
		return nil, err
	}
	return compose(modeDelete, o.fragments(found))
}

// fragments are the parts of the flows of this shoot. What they hand to each other are values; they know neither each other nor
// the reconciler.
func (o *operation) fragments(found remains) []fragment {
	g, r := o.ground(), o.r
	v := values{
		addresses:      addresses{},
		infrastructure: flow.NewValue[*gardenextensionsv1alpha1.Infrastructure]("infrastructure"),
		userData:       flow.NewValue[map[string]string]("user data"),
		shootClient:    flow.NewValue[client.Client]("shoot client"),
	}
	server := v.addresses.Of(apiserver.Exposure)
	creds := credentials{ground: g, garden: r.GardenClient, reader: r.GardenReader, validity: r.IdentityTokenValidity}
	return []fragment{
		home{ground: g, report: o.report, shoots: r.Shoots}.fragment(found),
		creds.fragment(found),
		project{ground: g, garden: r.GardenClient, secrets: o.secrets, report: o.report, address: server}.fragment(),
		plane{ground: g, secrets: o.secrets, images: o.images, shoots: r.Shoots, values: v}.fragment(found),
		names{ground: g, credentials: creds, todo: o.todo(), address: server, ttl: r.Config.DNSEntryTTLSeconds}.fragment(found),
		provider{ground: g, secrets: o.secrets, todo: o.todo(), report: o.report, values: v}.fragment(found),
		inside{ground: g, images: o.images, values: v}.fragment(),
		machineConfigs{ground: g, secrets: o.secrets, address: server, values: v}.fragment(found),
		runtimes{ground: g}.fragment(found),
		workers{ground: g, secrets: o.secrets, profile: o.profile, values: v}.fragment(found),
		cleaning{shoot: o.facts.Shoot, clock: r.Clock, shootClient: v.shootClient}.fragment(found),
	}
}

// inside is what every shoot has inside of its cluster.
type inside struct {
	ground

	images map[string]string
	values values
}

// fragment has nothing to destroy: everything inside goes with the cluster.
func (i inside) fragment() fragment {
	components := &assembly.Assembly[facts.Shoot]{
		Components: lists.System(), Facts: i.facts, Namespace: metav1.NamespaceSystem, Prefix: systemSets, Images: i.images, Addresses: i.values.addresses,
		Reads: []flow.Slot{i.values.shootClient},
		Engine: func(ctx context.Context) deploy.Engine {
			return deploy.Engine{Client: i.values.shootClient.Get(ctx), Owner: fieldOwner, Clock: i.clock}
		},
	}
	return fragment{deploy: components.Deploy(assembly.Order{})}
}
