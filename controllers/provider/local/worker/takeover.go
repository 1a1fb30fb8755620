// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

// Version 0.1 kept the state of a set of machines in a Secret, which owned their pods and user data.
const (
	oldPrefix          = "machine-deployment-"
	oldLabelDeployment = "local.provider.extensions.gardener.cloud/machine-deployment"
	oldLabelHash       = "local.provider.extensions.gardener.cloud/hash"
)

// takeOver makes Machines of the pods of an older version, without replacing them. Sets and Machines are made before the deployment, which
// finds them by their labels. A pod that has the class that is wanted now stays; the others are replaced as in any update.
func (a *Actor) takeOver(ctx context.Context, object *gardenextensionsv1alpha1.Worker, wanted []Wanted) error {
	list := &corev1.SecretList{}
	selector := client.MatchingLabels{gardencorev1beta1.LabelWorkerName: object.Name, gardencorev1beta1.LabelPurpose: purposeClass}
	if err := a.Reader.List(ctx, list, client.InNamespace(object.Namespace), selector); err != nil {
		return fmt.Errorf("list secrets of machine deployments: %w", err)
	}
	for i := range list.Items {
		if !strings.HasPrefix(list.Items[i].Name, oldPrefix) {
			continue
		}
		if err := a.takeOverSet(ctx, object, &list.Items[i], wanted); err != nil {
			return fmt.Errorf("take over the machines of secret %q: %w", list.Items[i].Name, err)
		}
	}
	return nil
}

func (a *Actor) takeOverSet(ctx context.Context, object *gardenextensionsv1alpha1.Worker, old *corev1.Secret, wanted []Wanted) error {
	name := object.Namespace + "-" + strings.TrimPrefix(old.Name, oldPrefix)
	deployment := emptyDeployment(object, name)
	index := slices.IndexFunc(wanted, func(w Wanted) bool { return w.Deployment.Name == name })
	if index >= 0 {
		deployment = wanted[index].Deployment.DeepCopy()
	}
	byClass, err := a.release(ctx, old)
	if err != nil {
		return err
	}
	for class, pods := range byClass {
		deployment.Spec.Template.Spec.Class = classNamed(name + "-" + class)
		if err := a.adopt(ctx, deployment, pods); err != nil {
			return err
		}
	}
	if index < 0 {
		if err := a.Seed.Apply(ctx, emptyDeployment(object, name)); err != nil {
			return fmt.Errorf("write machine deployment %q: %w", name, err)
		}
	}
	return a.Seed.Delete(ctx, old)
}

// release takes the pods and their user data from the Secret, which would take them with it, and returns the names of the pods by the hash
// of the set at the time they were made.
func (a *Actor) release(ctx context.Context, old *corev1.Secret) (map[string][]string, error) {
	pods, secrets := &corev1.PodList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{pods, secrets} {
		if err := a.Reader.List(ctx, list, client.InNamespace(old.Namespace), client.MatchingLabels{oldLabelDeployment: old.Name}); err != nil {
			return nil, fmt.Errorf("list machines: %w", err)
		}
	}
	names := map[string][]string{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if err := a.disown(ctx, pod, old); err != nil {
			return nil, err
		}
		if pod.DeletionTimestamp == nil {
			hash := pod.Labels[oldLabelHash]
			names[hash] = append(names[hash], pod.Name)
		}
	}
	for i := range secrets.Items {
		if err := a.disown(ctx, &secrets.Items[i], old); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func (a *Actor) disown(ctx context.Context, o client.Object, old *corev1.Secret) error {
	before, _ := o.DeepCopyObject().(client.Object)
	owners := slices.DeleteFunc(slices.Clone(o.GetOwnerReferences()), func(r metav1.OwnerReference) bool { return r.UID == old.UID })
	if len(owners) == len(o.GetOwnerReferences()) {
		return nil
	}
	o.SetOwnerReferences(owners)
	if err := a.Seed.Client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("take %T %q from its secret: %w", o, o.GetName(), err)
	}
	return nil
}

// adopt makes the Machines of one class, and their set.
func (a *Actor) adopt(ctx context.Context, deployment *gardenmachinev1alpha1.MachineDeployment, pods []string) error {
	set := machinedeployment.NewSet(deployment)
	set.Spec.Replicas = int32(len(pods)) //nolint:gosec // nobody has so many machines
	for _, pod := range pods {
		key, named := machinepod.MachineOf(deployment.Namespace, pod)
		if !named {
			return fmt.Errorf("pod %q does not have the name of a machine", pod)
		}
		m := &gardenmachinev1alpha1.Machine{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: key.Name, Labels: set.Spec.Template.Labels,
				Finalizers: []string{gardenmachinev1alpha1.FinalizerMachineControllerManager},
			},
			Spec: *set.Spec.Template.Spec.DeepCopy(),
		}
		m.Spec.ProviderID = machinepod.ProviderID(deployment.Namespace, pod)
		if err := a.Seed.Client.Create(ctx, m); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("create machine %q: %w", m.Name, err)
		}
	}
	if err := a.Seed.Client.Create(ctx, set); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create machine set %q: %w", set.Name, err)
	}
	return nil
}
