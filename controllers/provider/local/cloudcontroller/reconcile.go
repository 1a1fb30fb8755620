// SPDX-License-Identifier: Apache-2.0

package cloudcontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
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
	// SeedClient reads machines from the seed without a cache, and tells them how their Nodes are.
	SeedClient client.Client
	// SeedCache tells about changes of machines; without one only changes of Nodes start a pass.
	SeedCache cache.Cache
	// Recorder of the manager when unset.
	Recorder events.EventRecorder
	// Clock gives the times of conditions; the real one when unset.
	Clock clock.PassiveClock
}

// AddToManager fills the unset fields from the manager, which is one of the shoot, and registers the controller.
func (r *Reconciler) AddToManager(mgr manager.Manager) error {
	const name = "cloud-node"
	if r.ShootClient == nil {
		r.ShootClient = mgr.GetClient()
	}
	if r.Clock == nil {
		r.Clock = clock.RealClock{}
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
	err := r.SeedClient.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: node.Name}, pod)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, r.remove(ctx, node)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read machine %q: %w", node.Name, err)
	}
	return kit.Result(kit.Continue(), errors.Join(r.report(ctx, node, pod), r.complete(ctx, node, pod)))
}

// report tells the machine how its Node is. The kubelet of the seed writes the same status, hence the patch that merges conditions.
func (r *Reconciler) report(ctx context.Context, node *corev1.Node, pod *corev1.Pod) error {
	before := pod.DeepCopy()
	if !Report(pod, NodeReady(node), metav1.NewTime(r.Clock.Now())) {
		return nil
	}
	if err := r.SeedClient.Status().Patch(ctx, pod, client.StrategicMergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("report to machine %q: %w", pod.Name, err)
	}
	return nil
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
