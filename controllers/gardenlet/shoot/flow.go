// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/osc"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/shootaccess"
)

// mode is what a flow does with a shoot.
type mode string

const (
	modeReconcile mode = "reconciliation"
	modeDelete    mode = "deletion"
)

// compose makes the flow of a mode. The edges order a deletion: what users made inside of the shoot is deleted first, while the API
// server and the controllers that clean up still run. The machines follow, and then what they needed.
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

// reconcileGraph is the flow that creates or updates a shoot.
func (o *operation) reconcileGraph(context.Context) (*flow.Graph, error) {
	parts := o.fragments(remains{})
	if hasty(o.facts) {
		parts = hurry(parts)
	}
	return compose(modeReconcile, parts)
}

// deleteGraph is the flow that deletes what exists of a shoot.
func (o *operation) deleteGraph(ctx context.Context) (*flow.Graph, error) {
	found, err := o.ground().inspect(ctx)
	if err != nil {
		return nil, err
	}
	return compose(modeDelete, o.fragments(found))
}

// fragments are the parts of the flows of this shoot. They share values and do not know each other or the reconciler.
func (o *operation) fragments(found remains) []fragment {
	g, r := o.ground(), o.r
	v := values{
		addresses:      addresses{},
		infrastructure: flow.NewValue[*gardenextensionsv1alpha1.Infrastructure]("infrastructure"),
		userData:       flow.NewValue[map[string]string]("user data"),
		machineKeys:    flow.NewValue[map[string]string]("machine keys"),
		ordered:        flow.NewValue[*metav1.Time]("time of the last order of machines"),
		keptConfigs:    flow.NewValue[[]osc.Kept]("kept machine configurations"),
		shootClient:    flow.NewValue[client.Client]("shoot client"),
		ingress:        flow.NewValue[component.Address]("address of the ingress controller"),
	}
	server := v.addresses.Of(apiserver.Exposure)
	extras := addOns{ground: g, all: extensions.AddOns(&o.facts.Shoot.Spec, o.registrations)}
	creds := credentials{ground: g, garden: r.GardenClient, reader: r.GardenReader, validity: r.IdentityTokenValidity}
	records := names{ground: g, credentials: creds, todo: o.todo(), address: server, ttl: r.Config.DNSEntryTTLSeconds}
	return []fragment{
		home{ground: g, report: o.report, shoots: r.Shoots}.fragment(found),
		creds.fragment(found),
		references{credentials: creds}.fragment(found),
		extras.fragment(found),
		project{ground: g, garden: r.GardenClient, secrets: o.secrets, report: o.report, address: server}.fragment(),
		plane{ground: g, secrets: o.secrets, images: o.images, shoots: r.Shoots, addOns: extras, values: v}.fragment(found),
		records.fragment(found),
		provider{ground: g, secrets: o.secrets, todo: o.todo(), report: o.report, addOns: extras, values: v}.fragment(found),
		inside{ground: g, secrets: o.secrets, images: o.images, shoots: r.Shoots, values: v}.fragment(found),
		optional{ground: g, names: records, secrets: o.secrets, images: o.images, values: v}.fragment(found),
		machineConfigs{ground: g, secrets: o.secrets, profile: o.profile, address: server, addOns: extras, values: v}.fragment(found),
		runtimes{ground: g}.fragment(found),
		bastions{ground: g}.fragment(),
		workers{ground: g, secrets: o.secrets, profile: o.profile, addOns: extras, values: v, report: o.report, shoots: r.Shoots}.fragment(found),
		machineControl{ground: g, secrets: o.secrets, images: o.images, values: v}.fragment(found),
		scaling{ground: g, secrets: o.secrets, images: o.images, values: v}.fragment(found),
		sizing{ground: g, secrets: o.secrets, images: o.images, values: v}.fragment(found),
		tokenRotation{ground: g, secrets: o.secrets, shootClient: v.shootClient}.fragment(),
		encryptionRotation{ground: g, secrets: o.secrets, shoots: r.Shoots, shootClient: v.shootClient}.fragment(),
		encryptionChange{ground: g, report: o.report, secrets: o.secrets, shoots: r.Shoots}.fragment(),
		authorityRotation{ground: g, secrets: o.secrets, shootClient: v.shootClient}.fragment(),
		restarts{ground: g, todo: o.todo(), values: v}.fragment(),
		sleep{ground: g, shoots: r.Shoots, shootClient: v.shootClient}.fragment(),
		cleaning{ground: g, shootClient: v.shootClient}.fragment(found),
	}
}

// ground is what all tasks in the seed need: the shoot, as it was when the run began, and the seed's cluster.
type ground struct {
	facts facts.Shoot
	seed  client.Client
	clock clock.Clock
}

func (g ground) engine() deploy.Engine {
	return deploy.Engine{Client: g.seed, Owner: fieldOwner, Clock: g.clock}
}

func (g ground) extensions() extension.Engine {
	return extension.Engine{Client: g.seed, Clock: g.clock}
}

// providerSecret refers to the credentials of the cloud, for extensions.
func (g ground) providerSecret() corev1.SecretReference {
	return corev1.SecretReference{Namespace: g.facts.Namespace, Name: gardencorev1beta1.SecretCloudProvider}
}

// report changes the status of the shoot.
type report func(ctx context.Context, change func(status *gardencorev1beta1.ShootStatus)) error

// values are set by tasks of one fragment and read by tasks of others.
type values struct {
	// addresses are those of components.
	addresses addresses
	// infrastructure is the answer of the extension.
	infrastructure *flow.Value[*gardenextensionsv1alpha1.Infrastructure]
	// userData names the Secrets with the user data of each pool.
	userData *flow.Value[map[string]string]
	// machineKeys name what needs new machines of each pool when it changes.
	machineKeys *flow.Value[map[string]string]
	// ordered is when the extension had said which machines there are to be, before it was asked again; nil for never.
	ordered *flow.Value[*metav1.Time]
	// keptConfigs are what the agents of the nodes of each pool keep.
	keptConfigs *flow.Value[[]osc.Kept]
	// shootClient is the client of the shoot, set once its API server answers.
	shootClient *flow.Value[client.Client]
	// ingress is the address of the load balancer of the ingress controller.
	ingress address
}

// fragment is one part of the flows of a shoot.
type fragment struct {
	// deploy creates and updates it.
	deploy []flow.Task
	// destroy deletes it. Before that, it restores what other fragments need for their deletion.
	destroy []flow.Task
}

// remains is what a deletion finds in the seed.
type remains struct {
	// namespaceThere is set if there is a namespace, and namespace if it is not in deletion either.
	namespaceThere, namespace bool
	// apiServer is deployed; available is set if it also serves, asleep if it has no instances. hasServed is set if it has served before: somebody
	// got access to the shoot from it.
	apiServer, available, asleep, hasServed bool
	// infrastructure, network and worker objects exist.
	infrastructure, network, worker bool
	// controlPlane is set if that of the cloud provider is there, is not in deletion, and has been whole.
	controlPlane bool
	workerless   bool
}

// cleanable reports whether there can be anything inside the shoot that has to be removed in order, and a way to do so. There is
// nothing in an API server that never served and on which nothing was built. One that serves no more is waited for.
func (f remains) cleanable() bool {
	return f.namespace && f.apiServer && (f.infrastructure || f.workerless) && (f.available || f.asleep || f.hasServed || f.network || f.worker)
}

// wasWhole reports whether an extension has ever done what it was asked for.
func wasWhole(obj gardenextensionsv1alpha1.Object) bool {
	last := obj.GetExtensionStatus().LastOperation
	return last != nil && (last.Type != gardencorev1beta1.LastOperationTypeCreate || last.State == gardencorev1beta1.LastOperationStateSucceeded)
}

// stopped reports whether a Deployment has no instances.
func stopped(d *appsv1.Deployment) bool {
	return ptr.Deref(d.Spec.Replicas, 1) == 0
}

// power is how much of the shoot is to run in this operation.
func (g ground) power(ctx context.Context) (facts.Power, error) {
	server := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: g.facts.Namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer}
	err := g.seed.Get(ctx, key, server)
	if client.IgnoreNotFound(err) != nil {
		return facts.Awake, fmt.Errorf("look whether the API server runs: get deployment %q: %w", key, err)
	}
	return facts.PowerOf(g.facts.Shoot, err == nil && !stopped(server)), nil
}

// inspect looks for what is there of a shoot.
func (g ground) inspect(ctx context.Context) (remains, error) {
	var failed error
	there := func(obj client.Object, key client.ObjectKey) bool {
		err := g.seed.Get(ctx, key, obj)
		if client.IgnoreNotFound(err) != nil {
			failed = errors.Join(failed, fmt.Errorf("look for what is left in the seed: get %T %q: %w", obj, key, err))
		}
		return err == nil
	}
	found := remains{workerless: !g.facts.Workers()}
	namespace, server := &corev1.Namespace{}, &appsv1.Deployment{}
	found.namespaceThere = there(namespace, client.ObjectKey{Name: g.facts.Namespace})
	found.namespace = found.namespaceThere && namespace.DeletionTimestamp == nil
	found.apiServer = there(server, client.ObjectKey{Namespace: g.facts.Namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer}) && server.DeletionTimestamp == nil
	if found.apiServer {
		found.available, _ = deploy.Healthy(server)
		found.asleep = stopped(server)
	}
	// The resource manager gets its access by the shoot itself.
	access := shootaccess.Program(g.facts.Namespace, shootaccess.ResourceManager)
	found.hasServed = there(&corev1.Secret{}, client.ObjectKeyFromObject(access))
	key := client.ObjectKey{Namespace: g.facts.Namespace, Name: g.facts.Shoot.Name}
	found.infrastructure = there(&gardenextensionsv1alpha1.Infrastructure{}, key)
	control := &gardenextensionsv1alpha1.ControlPlane{}
	found.controlPlane = there(control, key) && control.DeletionTimestamp == nil && wasWhole(control)
	found.network = there(&gardenextensionsv1alpha1.Network{}, key)
	found.worker = there(&gardenextensionsv1alpha1.Worker{}, key)
	return found, failed
}
