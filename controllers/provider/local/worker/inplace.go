// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machines"
)

// inPlace reports whether the machines of a pool are updated in place.
func inPlace(pool *gardenextensionsv1alpha1.WorkerPool) bool {
	return query.InPlace(&gardencorev1beta1.Worker{UpdateStrategy: pool.UpdateStrategy})
}

// strategy is how the machines of a pool are updated, within the limits that a zone has.
func (s Source) strategy(part share) gardenmachinev1alpha1.MachineDeploymentStrategy {
	limits := gardenmachinev1alpha1.UpdateConfiguration{MaxSurge: &part.maxSurge, MaxUnavailable: &part.maxUnavailable}
	if !inPlace(s.Pool) {
		return gardenmachinev1alpha1.MachineDeploymentStrategy{
			Type:          gardenmachinev1alpha1.RollingUpdateStrategy,
			RollingUpdate: &gardenmachinev1alpha1.RollingUpdateMachineDeployment{UpdateConfiguration: limits},
		}
	}
	who := gardenmachinev1alpha1.OrchestrationTypeAuto
	if *s.Pool.UpdateStrategy == gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate {
		who = gardenmachinev1alpha1.OrchestrationTypeManual
	}
	return gardenmachinev1alpha1.MachineDeploymentStrategy{
		Type:          gardenmachinev1alpha1.InPlaceUpdateStrategy,
		InPlaceUpdate: &gardenmachinev1alpha1.InPlaceUpdateMachineDeployment{UpdateConfiguration: limits, OrchestrationType: who},
	}
}

// nodeAnnotations are those of the pool, and what its nodes are to be updated to in place. The owner of a shoot does not decide on the latter.
func (s Source) nodeAnnotations() map[string]string {
	annotations := maps.Clone(s.Pool.Annotations)
	delete(annotations, gardenmachinev1alpha1.AnnotationInPlaceWanted)
	delete(annotations, gardenmachinev1alpha1.AnnotationInPlaceStrategy)
	if !inPlace(s.Pool) {
		return annotations
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[gardenmachinev1alpha1.AnnotationInPlaceStrategy] = string(*s.Pool.UpdateStrategy)
	if pool := query.Pool(&s.Cluster.Shoot.Spec, s.Pool.Name); pool != nil {
		annotations[gardenmachinev1alpha1.AnnotationInPlaceWanted] = query.InPlaceHash(s.Cluster.Shoot, pool)
	}
	return annotations
}

// Updates says in the status of Workers for which state of each pool all of its machines have been updated in place (GLET-STAT-1).
type Updates struct {
	kit.Base
}

// AddToManager fills the unset fields from the manager of the seed and registers the controller.
func (r *Updates) AddToManager(seed manager.Manager) error {
	const name = "worker-updates"
	toWorkers := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		list, requests := &gardenextensionsv1alpha1.WorkerList{}, []reconcile.Request(nil)
		if err := r.Client.List(ctx, list, client.InNamespace(object.GetNamespace())); err != nil {
			return nil // The next event of a machine asks again, and so does the next run on the Worker.
		}
		for i := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return requests
	})
	b := r.ManagedBy(seed, name, kit.Queue{Concurrency: 2, BaseDelay: time.Second, MaxDelay: 30 * time.Second}).
		For(&gardenextensionsv1alpha1.Worker{}).
		Watches(&gardenmachinev1alpha1.MachineDeployment{}, toWorkers).
		Watches(&gardenmachinev1alpha1.Machine{}, toWorkers)
	return kit.Complete(b, name, r)
}

// Reconcile looks at the machines of one Worker.
func (r *Updates) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := &gardenextensionsv1alpha1.Worker{}
	if err := r.Reader.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var pools []string
	for i := range object.Spec.Pools {
		if inPlace(&object.Spec.Pools[i]) {
			pools = append(pools, object.Spec.Pools[i].Name)
		}
	}
	if !engine.Mine(object) || object.DeletionTimestamp != nil || len(pools) == 0 && object.Status.InPlaceUpdates == nil {
		return reconcile.Result{}, nil
	}
	deployments, all := &gardenmachinev1alpha1.MachineDeploymentList{}, &gardenmachinev1alpha1.MachineList{}
	if err := r.Reader.List(ctx, deployments, within(object)...); err != nil {
		return reconcile.Result{}, fmt.Errorf("list machine deployments: %w", err)
	}
	if err := r.Reader.List(ctx, all, client.InNamespace(object.Namespace)); err != nil {
		return reconcile.Result{}, fmt.Errorf("list machines: %w", err)
	}
	before := object.DeepCopy()
	hashes := map[string]string{}
	if u := object.Status.InPlaceUpdates; u != nil {
		maps.Copy(hashes, u.WorkerPoolToHashMap)
	}
	maps.DeleteFunc(hashes, func(pool, _ string) bool { return !slices.Contains(pools, pool) })
	for _, pool := range pools {
		if hash := UpdatedTo(pool, deployments.Items, all.Items); hash != "" {
			hashes[pool] = hash
		}
	}
	object.Status.InPlaceUpdates = &gardenextensionsv1alpha1.InPlaceUpdatesWorkerStatus{WorkerPoolToHashMap: hashes}
	if equality.Semantic.DeepEqual(before.Status, object.Status) {
		return reconcile.Result{}, nil
	}
	if err := r.Client.Status().Patch(ctx, object, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("write the status of worker %q: %w", object.Name, err)
	}
	return reconcile.Result{}, nil
}

// UpdatedTo is the state to which all machines of a pool have been updated; it is empty while some are behind. A pool without machines is
// never behind.
func UpdatedTo(pool string, deployments []gardenmachinev1alpha1.MachineDeployment, all []gardenmachinev1alpha1.Machine) string {
	wanted := ""
	for i := range deployments {
		d := &deployments[i]
		if d.Labels[gardencorev1beta1.LabelWorkerPool] != pool {
			continue
		}
		hash := d.Spec.Template.Spec.NodeTemplate.Annotations[gardenmachinev1alpha1.AnnotationInPlaceWanted]
		if hash == "" || wanted != "" && wanted != hash {
			return ""
		}
		wanted = hash
	}
	for i := range all {
		m := &all[i]
		if m.Labels[gardencorev1beta1.LabelWorkerPool] == pool && m.DeletionTimestamp == nil && !machines.UpdatedTo(m, wanted) {
			return ""
		}
	}
	return wanted
}
