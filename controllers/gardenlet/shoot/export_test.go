// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Found is what a deletion finds.
type Found struct {
	Namespace, Home, APIServer, Available, Asleep, Entered, Infrastructure, ControlPlane, Network, Worker bool
}

// ReconcileGraph compiles the graph of a reconciliation.
func ReconcileGraph(ctx context.Context, shoot *gardencorev1beta1.Shoot, hosts facts.Hosts, power facts.Power) (*flow.Graph, error) {
	o := onPaper(shoot, hosts)
	o.facts.Power = power
	return o.reconcileGraph(ctx)
}

// DeleteGraph compiles the graph of a deletion.
func DeleteGraph(shoot *gardencorev1beta1.Shoot, f Found) (*flow.Graph, error) {
	return compose(modeDelete, onPaper(shoot, facts.Hosts{}).fragments(remains{
		namespace: f.Namespace, namespaceThere: f.Namespace || f.Home, apiServer: f.APIServer, available: f.Available, asleep: f.Asleep, hasServed: f.Entered,
		infrastructure: f.Infrastructure, controlPlane: f.ControlPlane, network: f.Network, worker: f.Worker, workerless: query.Workerless(&shoot.Spec),
	}))
}

// CleanBegin returns when the clean-up of a shoot began.
func CleanBegin(ctx context.Context, r *Reconciler, namespace string) (time.Time, error) {
	return cleaning{ground: ground{facts: facts.Shoot{Namespace: namespace}, seed: r.SeedClient, clock: r.Clock}}.begin(ctx)
}

// Grace is how long the objects of a group may be in deletion before they are finalized.
func Grace(shoot *gardencorev1beta1.Shoot, annotation string, otherwise time.Duration) time.Duration {
	return grace(shoot, annotation, otherwise)
}

// ResourceKinds are the kinds of Kubernetes itself that are cleaned up.
func ResourceKinds(shoot *gardencorev1beta1.Shoot) []schema.GroupVersionKind {
	return resourceKinds(shoot)
}

// CleanExtendedAPIs cleans up definitions and API services without access to a cluster.
func CleanExtendedAPIs(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	return cleaning{ground: ground{facts: facts.Shoot{Shoot: shoot}}}.extendedAPIs(ctx)
}

// CleanNamespaces deletes the namespaces inside of a shoot, whose clean-up begins now.
func CleanNamespaces(ctx context.Context, shoot *gardencorev1beta1.Shoot, inside Cleaner) error {
	types, err := scheme.New()
	if err != nil {
		return err
	}
	plane := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}}
	c := cleaning{
		ground:      ground{facts: facts.Shoot{Shoot: shoot, Namespace: plane.Name}, seed: fake.NewClientBuilder().WithScheme(types).WithObjects(plane).Build(), clock: inside.Clock},
		shootClient: flow.NewValue[client.Client]("shoot client"),
	}
	given := flow.Task{ID: "given", Title: "Giving the client", Sets: []flow.Slot{c.shootClient}, Do: func(ctx context.Context) error {
		c.shootClient.Set(ctx, inside.Client)
		return nil
	}}
	graph, err := flow.Compile("one group", given, flow.Task{ID: cleaned, Title: "Deleting namespaces", Reads: []flow.Slot{c.shootClient}, Timeout: cleanTimeout, Do: c.namespaces})
	if err != nil {
		return err
	}
	return graph.Run(ctx, flow.Options{Clock: inside.Clock})
}

// AwaitOrders waits for the machines that the Worker "a" of a seed orders, after those of before.
func AwaitOrders(ctx context.Context, seed client.Client, watch clock.Clock, before *metav1.Time) error {
	v := values{ordered: flow.NewValue[*metav1.Time]("time")}
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	w := workers{ground: ground{facts: facts.Shoot{Namespace: "shoot--dev--a", Shoot: shoot}, seed: seed, clock: watch}, values: v}
	asked := flow.Task{ID: "asked", Title: "Asking", Sets: []flow.Slot{v.ordered}, Do: func(ctx context.Context) error {
		v.ordered.Set(ctx, before)
		return nil
	}}
	graph, err := flow.Compile("orders", asked, flow.Task{ID: "orders", Title: "Waiting", Reads: []flow.Slot{v.ordered}, Do: w.awaitOrders})
	if err != nil {
		return err
	}
	return graph.Run(ctx, flow.Options{Clock: watch})
}

// Snapshots is the group of snapshots of volumes.
func Snapshots(shoot *gardencorev1beta1.Shoot) CleanGroup { return snapshots(shoot) }

// ForceGraph compiles the graph of a forced deletion.
func ForceGraph(ctx context.Context, shoot *gardencorev1beta1.Shoot) (*flow.Graph, error) {
	return onPaper(shoot, facts.Hosts{}).forceGraph(ctx)
}

// onPaper is an operation whose flows are only compiled.
func onPaper(shoot *gardencorev1beta1.Shoot, hosts facts.Hosts) *operation {
	r := &Reconciler{Config: &gardenconfigv1alpha1.ShootControllerConfiguration{}}
	return &operation{r: r, facts: facts.Shoot{Shoot: shoot, Seed: &gardencorev1beta1.Seed{}, Hosts: hosts, KubeletsSigned: true}, registrations: offered(shoot)}
}

// offered are registrations on paper: the name of a type in the spec of the shoot says when its extension acts.
func offered(shoot *gardencorev1beta1.Shoot) []gardencorev1beta1.ControllerRegistration {
	r := gardencorev1beta1.ControllerRegistration{}
	for _, one := range shoot.Spec.Extensions {
		resource := gardencorev1beta1.ControllerResource{Kind: "Extension", Type: one.Type, WorkerlessSupported: new(true), Lifecycle: &gardencorev1beta1.ControllerResourceLifecycle{}}
		resource.Lifecycle.Reconcile = map[string]*gardencorev1beta1.ControllerResourceLifecycleStrategy{
			"before": new(gardencorev1beta1.ControllerResourceLifecycleStrategyBeforeKubeAPIServer),
			"last":   new(gardencorev1beta1.ControllerResourceLifecycleStrategyAfterWorker),
		}[one.Type]
		r.Spec.Resources = append(r.Spec.Resources, resource)
	}
	return []gardencorev1beta1.ControllerRegistration{r}
}

// Failure is an operation that did not succeed.
type Failure struct {
	Err           error
	RetryDuration time.Duration
}

// tell returns the status of a shoot after a report.
func tell(shoot *gardencorev1beta1.Shoot, patience time.Duration, now time.Time, say func(ctx context.Context, a *account) error) gardencorev1beta1.ShootStatus {
	types, err := scheme.New()
	if err != nil {
		panic(err)
	}
	shoot = shoot.DeepCopy()
	garden := fake.NewClientBuilder().WithScheme(types).WithObjects(shoot).WithStatusSubresource(shoot).Build()
	ctx := context.Background()
	if err := garden.Get(ctx, client.ObjectKeyFromObject(shoot), shoot); err != nil {
		panic(err)
	}
	r := &Reconciler{
		SeedBase: kit.SeedBase{GardenClient: garden, GardenReader: garden, Clock: clocktesting.NewFakeClock(now), Recorder: events.NewFakeRecorder(100)},
		Config:   &gardenconfigv1alpha1.ShootControllerConfiguration{RetryDuration: &metav1.Duration{Duration: patience}},
	}
	a := r.on(shoot)
	if err := say(ctx, a); err != nil {
		panic(err)
	}
	return a.Object().Status
}

// Started is the status at the start of an operation.
func Started(shoot *gardencorev1beta1.Shoot, kind gardencorev1beta1.LastOperationType, identity gardencorev1beta1.Gardener, now time.Time) gardencorev1beta1.ShootStatus {
	return tell(shoot, time.Hour, now, func(ctx context.Context, a *account) error { return a.Begin(ctx, beginning(shoot, kind, identity)) })
}

// Progressed is the status after a report of a running flow.
func Progressed(status gardencorev1beta1.ShootStatus, p flow.Progress, now time.Time) gardencorev1beta1.ShootStatus {
	return tell(withStatus(status), time.Hour, now, func(ctx context.Context, a *account) error { return a.Progress(ctx, p) })
}

// Succeeded is the status after an operation that succeeded.
func Succeeded(shoot *gardencorev1beta1.Shoot, power facts.Power, now time.Time) gardencorev1beta1.ShootStatus {
	return tell(shoot, time.Hour, now, func(ctx context.Context, a *account) error {
		return a.Succeed(ctx, func(s *gardencorev1beta1.Shoot) { complete(s, power, now) })
	})
}

// Waiting is the status while the seed is not ready for operations.
func Waiting(status gardencorev1beta1.ShootStatus, kind gardencorev1beta1.LastOperationType, reason error, now time.Time) gardencorev1beta1.ShootStatus {
	return tell(withStatus(status), time.Hour, now, func(ctx context.Context, a *account) error { return a.Postpone(ctx, kind, reason) })
}

// Failed is the status after an operation that did not succeed.
func Failed(status gardencorev1beta1.ShootStatus, f Failure, now time.Time) gardencorev1beta1.ShootStatus {
	return tell(withStatus(status), f.RetryDuration, now, func(ctx context.Context, a *account) error {
		if _, err := a.Fail(ctx, f.Err); !errors.Is(err, f.Err) {
			return fmt.Errorf("the end of the operation is %w, not its error", err)
		}
		return nil
	})
}

func withStatus(status gardencorev1beta1.ShootStatus) *gardencorev1beta1.Shoot {
	return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}, Status: status}
}

// FinishTask takes a task out of the annotation of a shoot.
func FinishTask(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, task string) error {
	return (&operation{r: r, facts: facts.Shoot{Shoot: shoot}}).todo().finish(ctx, task)
}

// FinishRecords takes the tasks for DNS records out of the annotation.
func FinishRecords(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot) error {
	return (&operation{r: r, facts: facts.Shoot{Shoot: shoot}}).todo().finishRest(ctx)
}

// Unrest names what is left in the cluster of a shoot that is put to sleep.
func Unrest(ctx context.Context, r *Reconciler, inside client.Client) ([]string, error) {
	left, err := sleep{ground: ground{clock: r.Clock}}.unrest(ctx, inside)
	return left.names, err
}

// RenewAccess has the tokens of all clients in the control plane of a shoot renewed.
func RenewAccess(ctx context.Context, r *Reconciler, namespace string) error {
	return tokenRotation{ground: ground{facts: facts.Shoot{Namespace: namespace}, seed: r.SeedClient, clock: r.Clock}}.renewAccess(ctx)
}

// Own labels an object in the project and makes the shoot its owner.
func Own(shoot *gardencorev1beta1.Shoot, obj client.Object, role string) {
	project{ground: ground{facts: facts.Shoot{Shoot: shoot}}}.own(obj, role)
}

// ExposureFor is what the load balancer of a shoot's API server is asked for.
func ExposureFor(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) (facts.Exposure, error) {
	o := &operation{r: r, facts: facts.Shoot{Shoot: shoot, Seed: &gardencorev1beta1.Seed{}, Namespace: namespace}}
	err := o.loadExposure(ctx)
	return o.facts.Exposure, err
}

// begin makes an operation on a shoot.
func begin(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) (*operation, error) {
	status := r.on(shoot)
	o := &operation{
		r: r, facts: facts.Shoot{Shoot: status.Object(), Seed: &gardencorev1beta1.Seed{}, Namespace: namespace, Hosts: facts.HostsOf(status.Object(), "dev", &gardencorev1beta1.Seed{})}, status: status,
		profile: &gardencorev1beta1.CloudProfile{},
	}
	if err := o.loadHanded(ctx); err != nil {
		return nil, err
	}
	if err := o.loadExposure(ctx); err != nil {
		return nil, err
	}
	find := func(name string) (string, error) { return r.Images.Find(name, shoot.Spec.Kubernetes.Version) }
	registrations := &gardencorev1beta1.ControllerRegistrationList{}
	err := r.GardenReader.List(ctx, registrations)
	if err != nil {
		return nil, err
	}
	o.registrations = registrations.Items
	if o.facts.Power, err = o.ground().power(ctx); err != nil {
		return nil, err
	}
	if o.facts.Encryption, err = o.ground().encryption(ctx); err != nil {
		return nil, err
	}
	if o.facts.KubeletsSigned, err = o.ground().kubeletsSigned(ctx); err != nil {
		return nil, err
	}
	if o.facts.DNSCacheInUse, err = o.ground().dnsCacheInUse(ctx); err != nil {
		return nil, err
	}
	if o.images, err = assembly.Images(o.facts, find, lists.ControlPlane(), lists.Machines(), lists.Scaling(), lists.Sizing(), lists.System(), lists.Optional()); err != nil {
		return nil, err
	}
	o.secrets, err = loadAuthorities(ctx, o.ground())
	return o, err
}

// runTasks runs some tasks of a reconciliation, in the order in which they are named. Values of other tasks are set
// before.
func (o *operation) runTasks(ctx context.Context, ids ...flow.ID) error {
	return o.runInOrder(ctx, false, ids)
}

// runInOrder is runTasks; bounded tasks end when their time is over.
func (o *operation) runInOrder(ctx context.Context, bounded bool, ids []flow.ID) error {
	tasks := map[flow.ID]flow.Task{}
	for _, part := range o.fragments(remains{}) {
		for _, task := range slices.Concat(part.destroy, part.deploy) {
			tasks[task.ID] = task
		}
	}
	for _, id := range ids {
		task := tasks[id]
		if len(task.Reads) == 0 && !bounded {
			if err := task.Do(ctx); err != nil {
				return err
			}
			continue
		}
		task.After = nil
		given := flow.Task{ID: "given", Title: "Giving values", Sets: task.Reads, Do: func(ctx context.Context) error {
			for _, slot := range task.Reads {
				switch value := slot.(type) {
				case *flow.Value[*gardenextensionsv1alpha1.Infrastructure]:
					value.Set(ctx, &gardenextensionsv1alpha1.Infrastructure{})
				case *flow.Value[map[string]string]:
					value.Set(ctx, nil)
				case *flow.Value[component.Address]:
					value.Set(ctx, component.Address{LoadBalancer: "10.99.1.1"})
				case *flow.Value[client.Client]:
					value.Set(ctx, o.r.SeedClient) // the seed stands for the shoot
				}
			}
			return nil
		}}
		graph, err := flow.Compile("some tasks", given, task)
		if err != nil {
			return err
		}
		if err := graph.Run(ctx, flow.Options{Clock: o.r.Clock}); err != nil {
			return err
		}
	}
	return nil
}

// RunTasks runs some tasks of the reconciliation of a shoot, or of its deletion, in the order in which they are named.
func RunTasks(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string, ids ...flow.ID) error {
	o, err := begin(ctx, r, shoot, namespace)
	if err != nil {
		return err
	}
	return o.runTasks(ctx, ids...)
}

// RunBoundedTasks is RunTasks within the time that each of the tasks has.
func RunBoundedTasks(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string, ids ...flow.ID) error {
	o, err := begin(ctx, r, shoot, namespace)
	if err != nil {
		return err
	}
	return o.runInOrder(ctx, true, ids)
}

// RunFlow runs the whole flow that creates a shoot, or the one that deletes it if it is in deletion.
func RunFlow(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	o, err := begin(ctx, r, shoot, namespace)
	if err != nil {
		return err
	}
	build := o.reconcileGraph
	if shoot.DeletionTimestamp != nil {
		build = o.deleteGraph
	}
	graph, err := build(ctx)
	if err != nil {
		return err
	}
	if err := graph.Run(ctx, flow.Options{Clock: r.Clock}); err != nil || shoot.DeletionTimestamp != nil {
		return err
	}
	return o.dropSecrets(ctx)
}

// DropSecrets deletes the generated Secrets of a shoot that a run has not asked for.
func DropSecrets(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	o := &operation{r: r, facts: facts.Shoot{Shoot: shoot, Namespace: namespace}}
	var err error
	if o.secrets, err = loadAuthorities(ctx, o.ground()); err != nil {
		return err
	}
	return o.dropSecrets(ctx)
}

// DeployETCD deploys the stores of a shoot on a seed.
func DeployETCD(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, namespace string) error {
	o, err := begin(ctx, r, shoot, namespace)
	if err != nil {
		return err
	}
	o.facts.Seed = seed
	return o.runTasks(ctx, "etcd-main", "etcd-events")
}

// NextPass is the time until the next pass after an operation that succeeded.
func NextPass(shoot *gardencorev1beta1.Shoot, s Settings, now time.Time) time.Duration {
	return nextPass(shoot, s, now)
}

// DeployRuntimes writes the container runtimes of a shoot, as a reconciliation does before it waits for them.
func DeployRuntimes(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	return RunTasks(ctx, r, shoot, namespace, "runtimes")
}

// DeleteStaleRuntimes deletes those that no pool asks for.
func DeleteStaleRuntimes(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	return RunTasks(ctx, r, shoot, namespace, "runtimes-stale-delete")
}

// DestroyRuntimes deletes all container runtimes and waits until they are gone, as two tasks of a deletion do.
func DestroyRuntimes(ctx context.Context, r *Reconciler, namespace string) error {
	a := runtimes{ground: ground{facts: facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}, Namespace: namespace}, seed: r.SeedClient, clock: r.Clock}}.ask()
	return errors.Join(a.remove(ctx), a.waitGone(ctx))
}

// GraphFor compiles one of the graphs that there is a picture of.
func GraphFor(ctx context.Context, shoot *gardencorev1beta1.Shoot, picture string) (*flow.Graph, error) {
	o := onPaper(shoot, facts.Hosts{})
	switch picture {
	case "delete.dot":
		return compose(modeDelete, o.fragments(remains{namespace: true, apiServer: true, available: true, infrastructure: true, controlPlane: true}))
	case "extensions-hibernate.dot":
		o.facts.Power = facts.FallingAsleep
	}
	return o.reconcileGraph(ctx)
}

// RefreshReferences writes the copies of what the shoot refers to, as a deletion does.
func RefreshReferences(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	o, err := begin(ctx, r, shoot, namespace)
	if err != nil {
		return err
	}
	return references{credentials{ground: o.ground(), garden: r.GardenClient, reader: r.GardenReader}}.refresh(ctx)
}

// Waits are the tasks that a reconciliation in haste leaves out.
func Waits() []flow.ID { return waits() }

// CalmDown ends a reconciliation of a shoot in haste.
func CalmDown(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot) error {
	return todo{shoot: shoot, garden: r.GardenClient, reader: r.GardenReader}.calmDown(ctx)
}

// DNSCacheInUse asks for the shoot a of the project dev.
func DNSCacheInUse(ctx context.Context, seed client.Client) (bool, error) {
	s := &gardencorev1beta1.Shoot{}
	s.Name = "a"
	return ground{facts: facts.Shoot{Shoot: s, Namespace: "shoot--dev--a"}, seed: seed}.dnsCacheInUse(ctx)
}

// KubeletsSigned asks for the shoot a of the project dev, which has workers.
func KubeletsSigned(ctx context.Context, seed client.Client) (bool, error) {
	s := &gardencorev1beta1.Shoot{}
	s.Name, s.Spec.Provider.Workers = "a", []gardencorev1beta1.Worker{{Name: "small"}}
	return ground{facts: facts.Shoot{Shoot: s, Namespace: "shoot--dev--a"}, seed: seed}.kubeletsSigned(ctx)
}

// EncryptGraph compiles the graph of a reconciliation that changes which resources are encrypted.
func EncryptGraph(ctx context.Context, shoot *gardencorev1beta1.Shoot, known bool) (*flow.Graph, error) {
	o := onPaper(shoot, facts.Hosts{})
	o.facts.Encryption = facts.Encryption{Changing: true, Known: known}
	return o.reconcileGraph(ctx)
}

// RunEncryption runs the tasks of a reconciliation that are about encryption, one after the other.
func RunEncryption(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string, inside client.Client) error {
	o, err := begin(ctx, r, shoot, namespace)
	if err != nil {
		return err
	}
	tasks := map[flow.ID]flow.Task{}
	for _, part := range o.fragments(remains{}) {
		for _, task := range part.deploy {
			tasks[task.ID] = task
		}
	}
	given := flow.Task{ID: "given", Title: "Giving values"}
	list, last := []flow.Task{}, given.ID
	for _, id := range []flow.ID{
		"encryption-provider", "encryption-unmark", "apiserver", "gardener-access", "encryption-status", "encryption-check", "encryption-key-known", "apiserver-new-key",
		"apiserver-new-key-in-use", "reencrypt", "encryption-rewrite", "encryption-report", "apiserver-encrypted", "encryption-end", "reencrypt-finish",
	} {
		task, found := tasks[id]
		if !found || task.Skip {
			continue
		}
		for _, slot := range task.Reads {
			if !slices.Contains(given.Sets, slot) {
				given.Sets = append(given.Sets, slot)
			}
		}
		task.After, last = []flow.ID{last}, id
		list = append(list, task)
	}
	given.Do = func(ctx context.Context) error {
		for _, slot := range given.Sets {
			switch value := slot.(type) {
			case *flow.Value[component.Address]:
				value.Set(ctx, component.Address{ClusterIP: "10.97.0.9", LoadBalancer: "10.99.1.1"})
			case *flow.Value[client.Client]:
				value.Set(ctx, inside)
			}
		}
		return nil
	}
	graph, err := flow.Compile("encryption", append([]flow.Task{given}, list...)...)
	if err != nil {
		return err
	}
	if err := graph.Run(ctx, flow.Options{Clock: r.Clock}); err != nil {
		return err
	}
	return o.secrets.Cleanup(ctx)
}

// Passes are the passes that run.
type Passes struct{ of passes }

// Enter begins a pass.
func (p *Passes) Enter(ctx context.Context, key client.ObjectKey) (context.Context, func()) {
	return p.of.enter(ctx, key)
}

// Reads tells which shoot the pass works on.
func (p *Passes) Reads(shoot *gardencorev1beta1.Shoot) { p.of.reads(shoot) }

// Force tells that a shoot is to be deleted by force.
func (p *Passes) Force(shoot *gardencorev1beta1.Shoot, again func()) { p.of.force(shoot, again) }

// WasInterrupted reports whether a forced deletion has ended the pass.
func WasInterrupted(ctx context.Context) bool { return wasInterrupted(ctx) }

// Leaving is the handler of the watch that sees deletions.
func (r *Reconciler) Leaving() handler.Funcs { return r.leaving() }
