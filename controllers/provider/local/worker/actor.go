// SPDX-License-Identifier: Apache-2.0

// Package worker turns the pools of a Worker into MachineClasses and MachineDeployments, one for each pool and zone, and waits until their
// machines are running. The packages machinedeployment, machineset and machines act upon them.
package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

const recheck = time.Second

// Actor maintains the machine deployments of Workers.
type Actor struct {
	engine.Access

	// Cloud returns where the machines of the shoot with that control-plane namespace run.
	Cloud cloud.Find
}

// Reconcile writes the machine deployments, publishes them, and waits until every machine is running and no old one is left.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.Worker, cluster *engine.Cluster) error {
	if cluster == nil {
		return errors.New("there is no Cluster object for the namespace")
	}
	wanted, err := a.wanted(ctx, object, cluster)
	if err != nil {
		return err
	}
	if err := a.takeOver(ctx, object, wanted); err != nil {
		return err
	}
	if cluster.Hibernated() {
		if err := a.force(ctx, object, func(string) bool { return true }); err != nil {
			return err
		}
	}
	mode, err := a.mode(ctx, object, cluster)
	if err != nil {
		return err
	}
	if err := a.deploy(ctx, object, wanted, mode); err != nil {
		return err
	}
	a.publish(object, wanted)
	if err := a.awaitRunning(ctx, object, wanted); err != nil {
		return err
	}
	return a.retire(ctx, object, wanted)
}

// Delete removes all machines by force, and then what they were made from. They do not move with a control plane to another
// seed. It does not wait for machines in a cluster that does not answer, or does not let them be deleted: that is an error, with which the
// shoot can be deleted by force, and then they stay there.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.Worker, cluster *engine.Cluster) error {
	in, err := a.Cloud(ctx, object.Namespace)
	switch {
	case err == nil, errors.Is(err, cloud.ErrForeign):
	case cluster.ForceDeleted():
		return nil
	default:
		return cloud.Unsolvable(fmt.Errorf("find the cloud of the machines: %w", err), cluster)
	}
	if err := a.takeOver(ctx, object, nil); err != nil {
		return err
	}
	err = a.retire(ctx, object, nil)
	if _, waits := kit.WaitReason(err); waits && in.Apart() {
		err = cmp.Or(mayRemove(ctx, in), err)
	}
	return cloud.Unsolvable(err, cluster)
}

func (a *Actor) wanted(ctx context.Context, object *gardenextensionsv1alpha1.Worker, cluster *engine.Cluster) ([]Wanted, error) {
	var all []Wanted
	for i := range object.Spec.Pools {
		pool := &object.Spec.Pools[i]
		if err := cluster.Unconfigured(pool.ProviderConfig, fmt.Sprintf("spec.provider.workers[%d].providerConfig", i)); err != nil {
			return nil, err
		}
		ref := pool.UserDataSecretRef
		secret := &corev1.Secret{}
		if err := a.Reader.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: ref.Name}, secret); err != nil {
			return nil, fmt.Errorf("read user data of pool %q: %w", pool.Name, err)
		}
		userData := secret.Data[ref.Key]
		if len(userData) == 0 {
			return nil, fmt.Errorf("read user data of pool %q: secret %q has no key %q", pool.Name, ref.Name, ref.Key)
		}
		wanted, err := Render(Source{Worker: object, Pool: pool, UserData: userData, Cluster: cluster, Images: a.Images})
		if err != nil {
			return nil, engine.ConfigurationProblem(err)
		}
		all = append(all, wanted...)
	}
	return all, nil
}

// deploy writes classes before the deployments that name them.
func (a *Actor) deploy(ctx context.Context, object *gardenextensionsv1alpha1.Worker, wanted []Wanted, mode Mode) error {
	owner := []metav1.OwnerReference{*metav1.NewControllerRef(object, gardenextensionsv1alpha1.GroupVersion.WithKind(kind.Worker))}
	for _, w := range wanted {
		if err := a.count(ctx, w, mode); err != nil {
			return err
		}
		for _, o := range []client.Object{w.Secret, w.Class, w.Deployment} {
			o.SetOwnerReferences(owner)
			if err := a.Seed.Apply(ctx, o); err != nil {
				return fmt.Errorf("write machine deployment %q: %w", w.Deployment.Name, err)
			}
		}
	}
	return nil
}

// publish writes the deployments into the status. The gardenlet waits until their update time is later than its request, not for the
// machines.
func (a *Actor) publish(object *gardenextensionsv1alpha1.Worker, wanted []Wanted) {
	sets := make([]gardenextensionsv1alpha1.MachineDeployment, 0, len(wanted))
	for _, w := range wanted {
		sets = append(sets, w.Status)
	}
	status := &object.Status
	last := status.MachineDeploymentsLastUpdateTime
	requested, err := time.Parse(time.RFC3339Nano, object.Annotations[gardencorev1beta1.AnnotationTimestamp])
	stale := last == nil || (err == nil && !last.After(requested))
	if !stale && reflect.DeepEqual(status.MachineDeployments, sets) {
		return
	}
	status.MachineDeployments = sets
	status.MachineDeploymentsLastUpdateTime = new(metav1.NewTime(a.Seed.Clock.Now()))
}

// within lists what belongs to the machines of a Worker.
func within(object *gardenextensionsv1alpha1.Worker) []client.ListOption {
	return []client.ListOption{client.InNamespace(object.Namespace), client.MatchingLabels{gardencorev1beta1.LabelWorkerName: object.Name}}
}

func (a *Actor) deployments(ctx context.Context, object *gardenextensionsv1alpha1.Worker) ([]gardenmachinev1alpha1.MachineDeployment, error) {
	list := &gardenmachinev1alpha1.MachineDeploymentList{}
	if err := a.Reader.List(ctx, list, within(object)...); err != nil {
		return nil, fmt.Errorf("list machine deployments: %w", err)
	}
	return list.Items, nil
}

// machines lists the Machines of a deployment.
func (a *Actor) machines(ctx context.Context, namespace, deployment string) ([]gardenmachinev1alpha1.Machine, error) {
	list := &gardenmachinev1alpha1.MachineList{}
	if err := a.Reader.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{labelName: deployment}); err != nil {
		return nil, fmt.Errorf("list machines of deployment %q: %w", deployment, err)
	}
	return list.Items, nil
}
