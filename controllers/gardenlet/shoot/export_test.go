// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

// Found are the remains that a deletion finds, for tests.
type Found struct {
	Namespace, APIServer, Available, Infrastructure, Network, Worker bool
}

// ReconcileGraph compiles the graph of a reconciliation.
func ReconcileGraph(ctx context.Context, shoot *gardencorev1beta1.Shoot, hosts facts.Hosts) (*flow.Graph, error) {
	return (&operation{shoot: shoot, hosts: hosts}).reconcileGraph(ctx)
}

// DeleteGraph compiles the graph of a deletion.
func DeleteGraph(shoot *gardencorev1beta1.Shoot, f Found) (*flow.Graph, error) {
	return (&operation{shoot: shoot}).deleteTasks(remains{
		namespace: f.Namespace, apiServer: f.APIServer, available: f.Available, infrastructure: f.Infrastructure,
		network: f.Network, worker: f.Worker, workerless: query.Workerless(&shoot.Spec),
	})
}

// FinishTask takes a task out of the annotation of a shoot.
func FinishTask(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, task string) error {
	return (&operation{r: r, shoot: shoot}).finishTask(ctx, task)
}

// FinishRecords takes the tasks for DNS records out.
func FinishRecords(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot) error {
	return (&operation{r: r, shoot: shoot}).finishRecords(ctx)
}

// Own makes an object in the project the gardenlet's own.
func Own(shoot *gardencorev1beta1.Shoot, obj client.Object, role string) {
	(&operation{shoot: shoot}).own(obj, role)
}

// CloudProviderSecret brings the credentials of a shoot into its namespace, as a reconciliation does.
func CloudProviderSecret(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	return (&operation{r: r, shoot: shoot, namespace: namespace}).cloudProviderSecret(ctx)
}

// DeployETCD brings up the stores of a shoot on a seed.
func DeployETCD(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, seed *gardencorev1beta1.Seed, namespace string) error {
	o := &operation{r: r, shoot: shoot, seed: seed, namespace: namespace, images: map[string]string{"etcd": "etcd:1"}}
	if err := o.secretsInit(ctx); err != nil {
		return err
	}
	var errs []error
	for _, task := range o.controlPlane().Deploy(assembly.Order{}) {
		if task.ID == "etcd-main" || task.ID == "etcd-events" {
			errs = append(errs, task.Do(ctx))
		}
	}
	return errors.Join(errs...)
}

// GardenCredentials publishes the credentials of a shoot in its project.
func GardenCredentials(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	o := &operation{r: r, shoot: shoot, namespace: namespace}
	if err := o.secretsInit(ctx); err != nil {
		return err
	}
	return o.gardenCredentials(ctx)
}

// DeployInfrastructureAndWorker writes both extension objects of a shoot.
func DeployInfrastructureAndWorker(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	o := &operation{
		r: r, shoot: shoot, namespace: namespace, infrastructure: &gardenextensionsv1alpha1.Infrastructure{}, profile: &gardencorev1beta1.CloudProfile{},
	}
	if err := o.secretsInit(ctx); err != nil {
		return err
	}
	return errors.Join(o.infrastructureDeploy(ctx), o.workerDeploy(ctx))
}

// RecordEncryption reports what the API server of a shoot encrypts.
func RecordEncryption(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	o := &operation{r: r, shoot: shoot, namespace: namespace, status: newStatusWriter(r.GardenClient, shoot)}
	return o.encryptionStatus(ctx)
}

// NextPass is when a shoot is looked at again after an operation that succeeded.
func NextPass(shoot *gardencorev1beta1.Shoot, s Settings) time.Duration {
	return nextPass(shoot, s)
}

// DeployRuntimes writes the container runtimes of a shoot, as a reconciliation does before it waits for them.
func DeployRuntimes(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	return (&operation{r: r, shoot: shoot, namespace: namespace}).runtimesDeploy(ctx)
}

// DeleteStaleRuntimes removes those that no pool asks for.
func DeleteStaleRuntimes(ctx context.Context, r *Reconciler, shoot *gardencorev1beta1.Shoot, namespace string) error {
	return (&operation{r: r, shoot: shoot, namespace: namespace}).runtimesDeleteStale(ctx)
}

// Destroy deletes all extension objects of a kind and waits until they are gone, as two tasks of a deletion do.
func Destroy(ctx context.Context, r *Reconciler, namespace, kind string) error {
	o := &operation{r: r, namespace: namespace}
	return errors.Join(o.destroy(kind)(ctx), o.destroyed(kind)(ctx))
}
