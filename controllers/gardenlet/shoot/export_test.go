// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// Found are the remains that a deletion finds, for tests.
type Found struct {
	Namespace, APIServer, Available, Infrastructure, Network, Worker bool
}

// ReconcileGraph compiles the graph of a reconciliation.
func ReconcileGraph(ctx context.Context, shoot *gardencorev1beta1.Shoot, hosts facts.Hosts) (*flow.Graph, error) {
	return onPaper(shoot, hosts).reconcileGraph(ctx)
}

// DeleteGraph compiles the graph of a deletion.
func DeleteGraph(shoot *gardencorev1beta1.Shoot, f Found) (*flow.Graph, error) {
	return compose(modeDelete, onPaper(shoot, facts.Hosts{}).fragments(remains{
		namespace: f.Namespace, apiServer: f.APIServer, available: f.Available, infrastructure: f.Infrastructure,
		network: f.Network, worker: f.Worker, workerless: query.Workerless(&shoot.Spec),
	}))
}

// onPaper is a run that never happens.
func onPaper(shoot *gardencorev1beta1.Shoot, hosts facts.Hosts) *operation {
	r := &Reconciler{Config: &gardenconfigv1alpha1.ShootControllerConfiguration{}}
	return &operation{r: r, shoot: shoot, seed: &gardencorev1beta1.Seed{}, hosts: hosts}
}

// FinishTask takes a task out of the annotation of a shoot.
func FinishTask(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, task string) error {
	return (&operation{r: r, shoot: shoot}).todo().finish(ctx, task)
}

// FinishRecords takes the tasks for DNS records out.
func FinishRecords(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot) error {
	return (&operation{r: r, shoot: shoot}).todo().finishRecords(ctx)
}

// Own makes an object in the project the gardenlet's own.
func Own(shoot *gardencorev1beta1.Shoot, obj client.Object, role string) {
	project{ground: ground{facts: facts.Shoot{Shoot: shoot}}}.own(obj, role)
}

// begin is a run on a shoot.
func begin(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) (*operation, error) {
	o := &operation{
		r: r, shoot: shoot, seed: &gardencorev1beta1.Seed{}, namespace: namespace, status: newStatusWriter(r.GardenClient, shoot),
		profile: &gardencorev1beta1.CloudProfile{},
	}
	find := func(name string) (string, error) { return r.Images.Find(name, shoot.Spec.Kubernetes.Version) }
	var err error
	if o.images, err = assembly.Images(o.facts(), find, lists.ControlPlane(), lists.System()); err != nil {
		return nil, err
	}
	o.secrets, err = loadAuthorities(ctx, o.ground())
	return o, err
}

// runTasks runs some tasks of a reconciliation, in the order in which they are named. Values that come from other tasks are
// given.
func (o *operation) runTasks(ctx context.Context, ids ...flow.ID) error {
	tasks := map[flow.ID]flow.Task{}
	for _, part := range o.fragments(remains{}) {
		for _, task := range part.deploy {
			tasks[task.ID] = task
		}
	}
	for _, id := range ids {
		task := tasks[id]
		if len(task.Reads) == 0 {
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

// RunTasks runs some tasks of the reconciliation of a shoot, in the order in which they are named.
func RunTasks(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string, ids ...flow.ID) error {
	o, err := begin(ctx, r, shoot, namespace)
	if err != nil {
		return err
	}
	return o.runTasks(ctx, ids...)
}

// RunFlow runs the whole flow that makes a shoot, or that takes it apart if it is in deletion.
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
	return graph.Run(ctx, flow.Options{Clock: r.Clock})
}

// DeployETCD brings up the stores of a shoot on a seed.
func DeployETCD(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, namespace string) error {
	o, err := begin(ctx, r, shoot, namespace)
	if err != nil {
		return err
	}
	o.seed = seed
	return o.runTasks(ctx, "etcd-main", "etcd-events")
}

// NextPass is when a shoot is looked at again after an operation that succeeded.
func NextPass(shoot *gardencorev1beta1.Shoot, s Settings) time.Duration {
	return nextPass(shoot, s)
}

// DeployRuntimes writes the container runtimes of a shoot, as a reconciliation does before it waits for them.
func DeployRuntimes(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	return RunTasks(ctx, r, shoot, namespace, "runtimes")
}

// DeleteStaleRuntimes removes those that no pool asks for.
func DeleteStaleRuntimes(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	return RunTasks(ctx, r, shoot, namespace, "runtimes-stale-delete")
}

// DestroyRuntimes deletes all container runtimes and waits until they are gone, as two tasks of a deletion do.
func DestroyRuntimes(ctx context.Context, r *Reconciler, namespace string) error {
	a := runtimes{ground: ground{facts: facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}, Namespace: namespace}, seed: r.SeedClient, clock: r.Clock}}.ask()
	return errors.Join(a.remove(ctx), a.waitGone(ctx))
}
