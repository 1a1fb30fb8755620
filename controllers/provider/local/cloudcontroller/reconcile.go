// SPDX-License-Identifier: Apache-2.0

// Package cloudcontroller maintains the Nodes of one local shoot, with the machines as the source, which are in the seed or in another
// cluster: it gives each Node its provider ID, region, zone and what its pool says, reports to the machine whether its Node is ready, and
// deletes Nodes whose machine is gone. It never deletes a Node unless the cluster of the machines itself says that there is no such one.
// Its process makes load balancers as well: see package loadbalancer.
package cloudcontroller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

// Reconciler maintains the Nodes of a shoot.
type Reconciler struct {
	// Base reaches the shoot.
	kit.Base

	// Namespace holds the machines in their cluster.
	Namespace string
	// Cloud reads machines from their cluster without a cache, and reports to them whether their Nodes are ready.
	Cloud client.Client
	// CloudCache watches machines.
	CloudCache cache.Cache
}

// AddToManager fills the unset fields from the manager of the shoot and registers the controller.
func (r *Reconciler) AddToManager(shoot manager.Manager) error {
	const name = "cloud-node"
	// A machine and its Node have the same name.
	toNode := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, pod *corev1.Pod) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: pod.Name}}}
	})
	b := r.ManagedBy(shoot, name, kit.Queue{Concurrency: 2, BaseDelay: time.Second, MaxDelay: 30 * time.Second}).
		For(&corev1.Node{}).
		WatchesRawSource(source.Kind(r.CloudCache, &corev1.Pod{}, toNode))
	return kit.Complete(b, name, r)
}

// Reconcile makes one pass over a Node.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	err := r.Client.Get(ctx, client.ObjectKey{Name: request.Name}, node)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("read node %q: %w", request.Name, err)
	}
	joined := err == nil
	pod := &corev1.Pod{}
	err = r.Cloud.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: request.Name}, pod)
	switch {
	case apierrors.IsNotFound(err) && joined:
		return reconcile.Result{}, r.remove(ctx, node)
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("read machine %q: %w", request.Name, err)
	case pod.Labels[machinepod.LabelApp] != machinepod.App:
		// Another pod of the control plane. Who may make Nodes in the shoot chooses their names, and is to write nothing into that.
		return reconcile.Result{}, nil
	case !joined:
		return reconcile.Result{}, r.miss(ctx, pod)
	}
	return kit.Result(kit.Continue(), errors.Join(r.report(ctx, pod, NodeReady(node)), r.complete(ctx, node, pod)))
}

// miss tells a machine that its Node has been deleted. A kubelet that runs does not make it again, so the machine would be of no use to the shoot
// for ever, and would be taken for a healthy one. One that has not joined yet, or that ends, needs none.
func (r *Reconciler) miss(ctx context.Context, pod *corev1.Pod) error {
	ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == machinepod.ConditionNodeReady && c.Status == corev1.ConditionTrue
	})
	if !ready || pod.DeletionTimestamp != nil {
		return nil
	}
	return r.report(ctx, pod, corev1.PodCondition{
		Type: machinepod.ConditionNodeReady, Status: corev1.ConditionFalse, Reason: "NodeMissing", Message: "the Node has been deleted from the shoot",
	})
}

// report tells the machine whether its Node is ready. The kubelet there writes the same status, so the patch merges conditions.
func (r *Reconciler) report(ctx context.Context, pod *corev1.Pod, condition corev1.PodCondition) error {
	before := pod.DeepCopy()
	Report(pod, condition, metav1.NewTime(r.Clock.Now()))
	if equality.Semantic.DeepEqual(before, pod) {
		return nil
	}
	if err := r.Cloud.Status().Patch(ctx, pod, client.StrategicMergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("report to machine %q: %w", pod.Name, err)
	}
	return nil
}

func (r *Reconciler) remove(ctx context.Context, node *corev1.Node) error {
	kit.Record(r.Recorder, node, kit.Notice{
		Type: corev1.EventTypeNormal, Reason: "MachineGone", Action: "Delete",
		Message: fmt.Sprintf("The machine %q no longer exists", node.Name),
	})
	return kit.Remove(ctx, r.Client, node)
}

func (r *Reconciler) complete(ctx context.Context, node *corev1.Node, pod *corev1.Pod) error {
	if claimed, wrong := WrongAddress(node, pod); wrong {
		kit.Record(r.Recorder, node, kit.Notice{
			Type: corev1.EventTypeWarning, Reason: "WrongAddress", Action: "Check",
			Message: fmt.Sprintf("The kubelet reports %s, but the machine has the address %s", claimed, pod.Status.PodIP),
		})
	}
	before := node.DeepCopy()
	if err := Complete(node, pod); err != nil || equality.Semantic.DeepEqual(before, node) {
		return err
	}
	// Taints are a list, so the lock prevents the patch from overwriting one that another controller has just added.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, node, patch); err != nil {
		return fmt.Errorf("write node %q: %w", node.Name, err)
	}
	return nil
}
