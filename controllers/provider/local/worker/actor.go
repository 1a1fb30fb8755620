// SPDX-License-Identifier: Apache-2.0

// Package worker turns the pools of Workers into machine deployments, one for each pool and zone, and waits until their machines are
// ready. Package machinedeployment creates the machines.
package worker

import (
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
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
)

const recheck = time.Second

// Actor maintains the machine deployments of Workers.
type Actor struct{ engine.Access }

// Reconcile writes the machine deployments, publishes them, and waits until every machine is ready and no old one is left.
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.Worker, cluster *engine.Cluster) error {
	if cluster == nil {
		return errors.New("there is no Cluster object for the namespace")
	}
	wanted, err := a.wanted(ctx, object, cluster)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, w := range wanted {
		keep[machinedeployment.SecretName(w.Set.Name)] = true
		if err := a.apply(ctx, object, w.Set, w.UserData); err != nil {
			return err
		}
	}
	a.publish(object, wanted)
	if err := a.awaitReady(ctx, object.Namespace, wanted); err != nil {
		return err
	}
	return a.retire(ctx, object, func(name string) bool { return !keep[name] })
}

// Delete removes all machines, and then what they were made from. Machines are pods of the seed, so they cannot move to another seed.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.Worker, _ *engine.Cluster) error {
	return a.retire(ctx, object, func(string) bool { return true })
}

func (a *Actor) wanted(ctx context.Context, object *gardenextensionsv1alpha1.Worker, cluster *engine.Cluster) ([]Wanted, error) {
	var all []Wanted
	for i := range object.Spec.Pools {
		pool := &object.Spec.Pools[i]
		ref := pool.UserDataSecretRef
		secret := &corev1.Secret{}
		if err := a.Reader.Get(ctx, client.ObjectKey{Namespace: object.Namespace, Name: ref.Name}, secret); err != nil {
			return nil, fmt.Errorf("read user data of pool %q: %w", pool.Name, err)
		}
		userData := secret.Data[ref.Key]
		if len(userData) == 0 {
			return nil, fmt.Errorf("read user data of pool %q: secret %q has no key %q", pool.Name, ref.Name, ref.Key)
		}
		wanted, err := Render(object, pool, userData, cluster, a.Images)
		if err != nil {
			return nil, engine.ConfigurationProblem(err)
		}
		all = append(all, wanted...)
	}
	return all, nil
}

func (a *Actor) apply(ctx context.Context, object *gardenextensionsv1alpha1.Worker, set machinedeployment.Deployment, userData []byte) error {
	secret, err := set.Secret(object.Namespace, object.Name, userData)
	if err != nil {
		return err
	}
	secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(object, gardenextensionsv1alpha1.GroupVersion.WithKind(kind.Worker))}
	if err := a.Seed.Apply(ctx, secret); err != nil {
		return fmt.Errorf("write machine deployment %q: %w", set.Name, err)
	}
	return nil
}

// publish writes the sets into the status. The gardenlet waits until their update time is later than its request, not for the machines.
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

// awaitReady checks the machines once. A problem that may not go away by itself is an error; everything else is a wait.
func (a *Actor) awaitReady(ctx context.Context, namespace string, wanted []Wanted) error {
	waiting := ""
	for _, w := range wanted {
		pods, err := machinedeployment.Pods(ctx, a.Reader, namespace, w.Set)
		if err != nil {
			return err
		}
		progress := machinedeployment.Summarize(w.Set, pods)
		if progress.Trouble != "" {
			return errors.New(progress.Trouble)
		}
		if progress.Waiting != "" && waiting == "" {
			waiting = progress.Waiting
		}
	}
	if waiting != "" {
		return kit.Wait(recheck, waiting)
	}
	return nil
}

// retire scales the chosen machine deployments of the Worker to zero, and removes those without machines.
func (a *Actor) retire(ctx context.Context, object *gardenextensionsv1alpha1.Worker, chosen func(secret string) bool) error {
	list := &corev1.SecretList{}
	labels := client.MatchingLabels(machinedeployment.SecretLabels(object.Name))
	if err := a.Reader.List(ctx, list, client.InNamespace(object.Namespace), labels); err != nil {
		return fmt.Errorf("list machine deployments: %w", err)
	}
	left := 0
	for i := range list.Items {
		if !chosen(list.Items[i].Name) {
			continue
		}
		machines, err := a.retireOne(ctx, object, &list.Items[i])
		if err != nil {
			return err
		}
		left += machines
	}
	if left > 0 {
		return kit.Wait(recheck, fmt.Sprintf("Waiting for %d machines to stop", left))
	}
	return nil
}

// retireOne scales one machine deployment to zero and returns how many machines are left.
func (a *Actor) retireOne(ctx context.Context, object *gardenextensionsv1alpha1.Worker, secret *corev1.Secret) (int, error) {
	set, userData, err := machinedeployment.FromSecret(secret)
	if err != nil {
		return 0, err
	}
	if set.Replicas != 0 {
		set.Replicas = 0
		if err := a.apply(ctx, object, set, userData); err != nil {
			return 0, err
		}
	}
	pods, err := machinedeployment.Pods(ctx, a.Reader, secret.Namespace, set)
	if err != nil || len(pods) > 0 {
		return len(pods), err
	}
	return 0, a.Seed.Delete(ctx, secret)
}
