// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/inshoot"
)

// taint is what keeps pods away from new nodes.
const taint = gardencorev1beta1.TaintNodeCriticalComponentsNotReady

// Followed are the nodes of every shoot, and the pods for which they wait.
func Followed() []inshoot.Kind {
	return []inshoot.Kind{
		{
			Name: "nodes", List: func() client.ObjectList { return &corev1.NodeList{} },
			Act: func(ctx context.Context, shoot inshoot.Shoot, object client.Object) (bool, error) {
				node, ok := object.(*corev1.Node)
				if !ok {
					return false, nil
				}
				return Open(ctx, shoot, node)
			},
		},
		{
			Name: "critical-pods", List: func() client.ObjectList { return &corev1.PodList{} },
			Options: []client.ListOption{client.InNamespace(metav1.NamespaceSystem), critical()},
			Act: func(ctx context.Context, shoot inshoot.Shoot, object client.Object) (bool, error) {
				pod, ok := object.(*corev1.Pod)
				if !ok || !ready(pod) {
					return false, nil
				}
				node := &corev1.Node{}
				if err := shoot.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, node); err != nil {
					return false, client.IgnoreNotFound(err)
				}
				_, err := Open(ctx, shoot, node) // The node itself is looked at again if it has to wait.
				return false, err
			},
		},
	}
}

func critical() client.MatchingLabels {
	return client.MatchingLabels{gardencorev1beta1.LabelNodeCriticalComponent: "true"}
}

// Open removes the taint of a node if all that it waits for is there. It reports whether the node still waits.
func Open(ctx context.Context, shoot client.Client, node *corev1.Node) (waits bool, err error) {
	closed := func(t corev1.Taint) bool { return t.Key == taint }
	if node.DeletionTimestamp != nil || !slices.ContainsFunc(node.Spec.Taints, closed) {
		return false, nil
	}
	state, err := read(ctx, shoot, node)
	if err != nil {
		return true, err
	}
	reason, message := Judge(node, state)
	if reason != "" {
		return true, tell(ctx, shoot, node, reason, message)
	}
	before := node.DeepCopy()
	node = node.DeepCopy()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, closed)
	err = shoot.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return true, nil // It is gone, or comes again with what has changed.
	}
	if err != nil {
		return true, fmt.Errorf("remove the taint %s of node %q: %w", taint, node.Name, err)
	}
	ctrl.LoggerFrom(ctx).Info("Opened a node for pods", "node", node.Name)
	return false, tell(ctx, shoot, node, reasonReady, "All critical components are ready")
}

// State is what a node waits for.
type State struct {
	// DaemonSets are those that are marked as critical.
	DaemonSets []appsv1.DaemonSet
	// Pods are the critical pods on the node.
	Pods []corev1.Pod
	// Drivers are the names of the storage drivers that are registered on the node.
	Drivers []string
}

func read(ctx context.Context, shoot client.Client, node *corev1.Node) (State, error) {
	sets, pods, csi := &appsv1.DaemonSetList{}, &corev1.PodList{}, &storagev1.CSINode{}
	err := errors.Join(
		shoot.List(ctx, sets, client.InNamespace(metav1.NamespaceSystem), critical()),
		shoot.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem), critical(), client.MatchingFields{"spec.nodeName": node.Name}),
		client.IgnoreNotFound(shoot.Get(ctx, client.ObjectKey{Name: node.Name}, csi)),
	)
	if err != nil {
		return State{}, fmt.Errorf("read what node %q waits for: %w", node.Name, err)
	}
	state := State{DaemonSets: sets.Items, Pods: pods.Items}
	for _, driver := range csi.Spec.Drivers {
		state.Drivers = append(state.Drivers, driver.Name)
	}
	return state, nil
}
