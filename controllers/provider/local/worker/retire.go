// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

// force labels Machines, so that they go without a drain (EXT-WLIB-2, 5).
func (a *Actor) force(ctx context.Context, object *gardenextensionsv1alpha1.Worker, chosen func(deployment string) bool) error {
	deployments, err := a.deployments(ctx, object)
	if err != nil {
		return err
	}
	for i := range deployments {
		if !chosen(deployments[i].Name) {
			continue
		}
		list, err := a.machines(ctx, object.Namespace, deployments[i].Name)
		if err != nil {
			return err
		}
		for j := range list {
			if err := a.forceOne(ctx, &list[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Actor) forceOne(ctx context.Context, m *gardenmachinev1alpha1.Machine) error {
	if m.Labels[gardenmachinev1alpha1.LabelForceDeletion] == gardenmachinev1alpha1.ForceDeletion {
		return nil
	}
	before := m.DeepCopy()
	metav1.SetMetaDataLabel(&m.ObjectMeta, gardenmachinev1alpha1.LabelForceDeletion, gardenmachinev1alpha1.ForceDeletion)
	if err := a.Seed.Client.Patch(ctx, m, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("label machine %q for deletion: %w", m.Name, err)
	}
	return nil
}

// retire removes the deployments that nobody wants, and waits for their machines. When these are gone, it removes the classes and Secrets
// that nobody wants, and pods without a Machine (EXT-WLIB-3, 5). Without any deployment left, the machines go without a drain: with them
// goes the shoot.
func (a *Actor) retire(ctx context.Context, object *gardenextensionsv1alpha1.Worker, wanted []Wanted) error {
	keep := map[string]bool{}
	for _, w := range wanted {
		keep[w.Deployment.Name], keep[w.Class.Name] = true, true
	}
	unwanted := func(name string) bool { return !keep[name] }
	if len(wanted) == 0 {
		if err := a.force(ctx, object, unwanted); err != nil {
			return err
		}
	}
	left, err := a.retireDeployments(ctx, object, unwanted)
	if err != nil {
		return err
	}
	if left > 0 {
		return kit.Wait(recheck, fmt.Sprintf("Waiting for %d machines to stop", left))
	}
	if err := a.retireClasses(ctx, object, unwanted); err != nil {
		return err
	}
	return a.removeOrphans(ctx, object.Namespace)
}

// retireDeployments returns the number of Machines that are left, and at least one for a deployment that is left.
func (a *Actor) retireDeployments(ctx context.Context, object *gardenextensionsv1alpha1.Worker, unwanted func(name string) bool) (int, error) {
	deployments, err := a.deployments(ctx, object)
	if err != nil {
		return 0, err
	}
	left := 0
	for i := range deployments {
		d := &deployments[i]
		if !unwanted(d.Name) {
			continue
		}
		if err := a.Seed.Delete(ctx, d); err != nil {
			return 0, err
		}
		list, err := a.machines(ctx, object.Namespace, d.Name)
		if err != nil {
			return 0, err
		}
		left += max(1, len(list))
	}
	return left, nil
}

// retireClasses removes classes and their Secrets, except those that a Machine still names.
func (a *Actor) retireClasses(ctx context.Context, object *gardenextensionsv1alpha1.Worker, unwanted func(name string) bool) error {
	list := &gardenmachinev1alpha1.MachineList{}
	if err := a.Reader.List(ctx, list, client.InNamespace(object.Namespace)); err != nil {
		return fmt.Errorf("list machines: %w", err)
	}
	used := map[string]bool{}
	for i := range list.Items {
		used[list.Items[i].Spec.Class.Name] = true
	}
	classes := &gardenmachinev1alpha1.MachineClassList{}
	if err := a.Reader.List(ctx, classes, within(object)...); err != nil {
		return fmt.Errorf("list machine classes: %w", err)
	}
	secrets := &corev1.SecretList{}
	selector := client.MatchingLabels{gardencorev1beta1.LabelWorkerName: object.Name, gardencorev1beta1.LabelPurpose: purposeClass}
	if err := a.Reader.List(ctx, secrets, client.InNamespace(object.Namespace), selector); err != nil {
		return fmt.Errorf("list secrets of machine classes: %w", err)
	}
	var gone []client.Object
	for i := range classes.Items {
		gone = append(gone, &classes.Items[i])
	}
	for i := range secrets.Items {
		gone = append(gone, &secrets.Items[i])
	}
	for _, o := range gone {
		if !unwanted(o.GetName()) || used[o.GetName()] {
			continue
		}
		if err := a.Seed.Delete(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// removeOrphans deletes pods and user data without a Machine. There are none, unless somebody removed finalizers.
func (a *Actor) removeOrphans(ctx context.Context, namespace string) error {
	in, err := a.Cloud(ctx, namespace)
	if errors.Is(err, cloud.ErrForeign) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find the cloud of the machines: %w", err)
	}
	found, err := ofMachines(ctx, in)
	if err != nil {
		return err
	}
	for _, o := range found {
		if err := a.removeOrphan(ctx, namespace, in, o); err != nil {
			return err
		}
	}
	return nil
}

// ofMachines lists the pods of machines, and their user data.
func ofMachines(ctx context.Context, in cloud.Cloud) ([]client.Object, error) {
	pods, secrets := &corev1.PodList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{pods, secrets} {
		if err := in.List(ctx, list, client.InNamespace(in.Namespace), client.MatchingLabels(machinepod.Labels())); err != nil {
			return nil, fmt.Errorf("list the pods of machines: %w", in.Trouble(err))
		}
	}
	var found []client.Object
	for i := range pods.Items {
		found = append(found, &pods.Items[i])
	}
	for i := range secrets.Items {
		found = append(found, &secrets.Items[i])
	}
	return found, nil
}

// mayRemove asks another cluster whether machines may be deleted there, and deletes nothing. Somebody else deletes them, who cannot tell the
// owner of the shoot that the credentials do not suffice. It asks for one pod and one Secret, because few requests are let through at a time
// and the deletions themselves need them, and tells of nothing else: whatever it is, it may be over when the machines are deleted.
func mayRemove(ctx context.Context, in cloud.Cloud) error {
	if !in.Apart() {
		return nil
	}
	found, err := ofMachines(ctx, in)
	if err != nil {
		return refusal(err)
	}
	asked := map[reflect.Type]bool{}
	for _, o := range found {
		kind := reflect.TypeOf(o)
		if o.GetDeletionTimestamp() != nil || asked[kind] {
			continue
		}
		asked[kind] = true
		if err := in.Delete(ctx, o, client.DryRunAll); refusal(err) != nil {
			return fmt.Errorf("delete %T %q of a machine: %w", o, o.GetName(), in.Trouble(err))
		}
	}
	return nil
}

// refusal returns an error only if it says that the credentials do not suffice.
func refusal(err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return err
	}
	return nil
}

func (a *Actor) removeOrphan(ctx context.Context, namespace string, in cloud.Cloud, o client.Object) error {
	key, named := machinepod.MachineOf(namespace, o.GetName())
	if !named {
		return nil
	}
	err := a.Reader.Get(ctx, key, &gardenmachinev1alpha1.Machine{})
	if err == nil || client.IgnoreNotFound(err) != nil {
		return err //nolint:wrapcheck // There is a Machine, or the client says what went wrong.
	}
	if err := in.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %T %q without a machine: %w", o, o.GetName(), in.Trouble(err))
	}
	return nil
}
