// SPDX-License-Identifier: Apache-2.0

package cloudcontroller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Reconciler looks after the Nodes of a shoot.
type Reconciler struct {
	// Namespace holds the machines in the seed.
	Namespace string
	// ShootClient reaches the shoot; the manager's when unset.
	ShootClient client.Client
	// SeedReader reads machines from the seed without a cache.
	SeedReader client.Reader
	// SeedCache tells about changes of machines; without one only changes of Nodes start a pass.
	SeedCache cache.Cache
	// Recorder of the manager when unset.
	Recorder events.EventRecorder
}

// AddToManager fills the unset fields from the manager, which is one of the shoot, and registers the controller.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	const name = "cloud-node"
	if r.ShootClient == nil {
		r.ShootClient = mgr.GetClient()
	}
	if r.Recorder == nil {
		r.Recorder = mgr.GetEventRecorder(name)
	}
	b := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(&corev1.Node{}).
		WithOptions(kit.Queue{Concurrency: 2, BaseDelay: time.Second, MaxDelay: 30 * time.Second}.Options())
	if r.SeedCache != nil {
		// A machine and its Node have the same name.
		toNode := handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, pod *corev1.Pod) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: pod.Name}}}
		})
		b = b.WatchesRawSource(source.Kind(r.SeedCache, &corev1.Pod{}, toNode))
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("add controller %q: %w", name, err)
	}
	return nil
}

// Reconcile makes one pass over a Node.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := r.ShootClient.Get(ctx, client.ObjectKey{Name: request.Name}, node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	pod := &corev1.Pod{}
	err := r.SeedReader.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: node.Name}, pod)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, r.remove(ctx, node)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read machine %q: %w", node.Name, err)
	}
	return kit.Result(kit.Continue(), r.complete(ctx, node, pod))
}

func (r *Reconciler) remove(ctx context.Context, node *corev1.Node) error {
	kit.Record(r.Recorder, node, kit.Notice{
		Type: corev1.EventTypeNormal, Reason: "MachineGone", Action: "Delete",
		Message: fmt.Sprintf("The machine %q does not exist any more in the seed", node.Name),
	})
	return kit.Remove(ctx, r.ShootClient, node)
}

func (r *Reconciler) complete(ctx context.Context, node *corev1.Node, pod *corev1.Pod) error {
	if claimed, wrong := WrongAddress(node, pod); wrong {
		kit.Record(r.Recorder, node, kit.Notice{
			Type: corev1.EventTypeWarning, Reason: "WrongAddress", Action: "Check",
			Message: fmt.Sprintf("The kubelet reports %s, but the machine has the address %s", claimed, pod.Status.PodIP),
		})
	}
	before := node.DeepCopy()
	changed, err := Complete(node, pod)
	if err != nil || !changed {
		return err
	}
	// Taints are a list, so the patch must not overwrite one that another controller just added.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.ShootClient.Patch(ctx, node, patch); err != nil {
		return fmt.Errorf("write node %q: %w", node.Name, err)
	}
	return nil
}
