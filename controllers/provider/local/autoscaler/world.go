// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

const kindDaemonSet = "DaemonSet"

// world is what one pass sees.
type world struct {
	now     time.Time
	options *Options
	nodes   map[string]*corev1.Node
	// pods are those that have not ended.
	pods    []*corev1.Pod
	budgets []policyv1.PodDisruptionBudget
	groups  []*group
	// late reports whether the time for simulations of this pass is over; nil if it never is.
	late func() bool
}

// look reads the shoot, and the machines in the seed.
func (a *Autoscaler) look(ctx context.Context) (*world, error) {
	w := &world{now: a.Clock.Now(), options: &a.Options, nodes: map[string]*corev1.Node{}}
	nodes, pods := &corev1.NodeList{}, &corev1.PodList{}
	budgets, sets := &policyv1.PodDisruptionBudgetList{}, &appsv1.DaemonSetList{}
	for _, list := range []client.ObjectList{nodes, pods, budgets, sets} {
		if err := a.Shoot.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list %T of the shoot: %w", list, err)
		}
	}
	for i := range nodes.Items {
		w.nodes[nodes.Items[i].Name] = &nodes.Items[i]
	}
	for i := range pods.Items {
		if phase := pods.Items[i].Status.Phase; phase != corev1.PodSucceeded && phase != corev1.PodFailed {
			w.pods = append(w.pods, &pods.Items[i])
		}
	}
	slices.SortFunc(w.pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	w.budgets = budgets.Items
	return w, a.lookAtMachines(ctx, w, sets.Items)
}

// lookAtMachines reads the groups. A deployment that does not exist is left out: the pool was just removed, or is not made yet.
func (a *Autoscaler) lookAtMachines(ctx context.Context, w *world, sets []appsv1.DaemonSet) error {
	machines := &gardenmachinev1alpha1.MachineList{}
	if err := a.Seed.List(ctx, machines, client.InNamespace(a.Options.Namespace)); err != nil {
		return fmt.Errorf("list machines: %w", err)
	}
	slices.SortFunc(machines.Items, func(a, b gardenmachinev1alpha1.Machine) int { return cmp.Compare(a.Name, b.Name) })
	for _, bounds := range a.Options.Groups {
		deployment, class := &gardenmachinev1alpha1.MachineDeployment{}, &gardenmachinev1alpha1.MachineClass{}
		err := a.Seed.Get(ctx, client.ObjectKey{Namespace: a.Options.Namespace, Name: bounds.Name}, deployment)
		if apierrors.IsNotFound(err) || err == nil && deployment.DeletionTimestamp != nil {
			continue
		}
		if err == nil {
			key := client.ObjectKey{Namespace: a.Options.Namespace, Name: deployment.Spec.Template.Spec.Class.Name}
			err = client.IgnoreNotFound(a.Seed.Get(ctx, key, class))
		}
		if err != nil {
			return fmt.Errorf("read machine deployment %q: %w", bounds.Name, err)
		}
		g := &group{Bounds: bounds, Settings: overridden(a.Options.Settings, deployment.Annotations), deployment: deployment}
		for i := range machines.Items {
			if m := &machines.Items[i]; m.Labels[labelName] == bounds.Name && m.DeletionTimestamp == nil {
				g.machines = append(g.machines, *m)
			}
		}
		if g.fresh = freshNode(deployment, class.NodeTemplate, w.model(g)); g.fresh != nil {
			g.daemons = daemonsOn(g.fresh, sets)
		}
		w.groups = append(w.groups, g)
	}
	return nil
}

// model is a node of the group's present class that runs, or nil.
func (w *world) model(g *group) *corev1.Node {
	for i := range g.machines {
		node := w.nodes[nodeOf(&g.machines[i])]
		if node != nil && w.started(node) && g.machines[i].Spec.Class == g.deployment.Spec.Template.Spec.Class {
			return node
		}
	}
	return nil
}

// ready reports whether the kubelet of a node says so.
func ready(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// started reports whether a node is ready for pods.
func (w *world) started(node *corev1.Node) bool {
	return ready(node) && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeNotReady || t.Key == gardencorev1beta1.TaintNodeCriticalComponentsNotReady || slices.Contains(w.options.StartupTaints, t.Key)
	})
}

// simulation is the shoot as it is. Nodes that start, are silent or take no pods are in it, because their pods count.
func (w *world) simulation() *simulation {
	on := map[string][]*corev1.Pod{}
	for _, pod := range w.pods {
		if pod.Spec.NodeName != "" {
			on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod)
		}
	}
	s := &simulation{}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		node := w.nodes[name]
		if len(w.options.StatusTaints) > 0 {
			node = node.DeepCopy()
			node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return slices.Contains(w.options.StatusTaints, t.Key) })
		}
		s.spots = append(s.spots, newSpot(node, w.started(node) && !node.Spec.Unschedulable && node.DeletionTimestamp == nil, on[name]...))
	}
	return s
}

// pending are the pods that the scheduler can place nowhere and that may bring a machine.
func (w *world) pending() []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range w.pods {
		if unschedulable(pod) && w.now.Sub(pod.CreationTimestamp.Time) >= w.options.NewPodScaleUpDelay {
			pods = append(pods, pod)
		}
	}
	return pods
}

// expendable is the priority below which pods neither bring nor keep machines.
const expendable = -10

// unschedulable reports whether the scheduler gave up on a pod for now. Those of DaemonSets wait for their own node; those that wait for
// the end of others on a node will have it.
func unschedulable(pod *corev1.Pod) bool {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || pod.Status.NominatedNodeName != "" || ofDaemonSet(pod) {
		return false
	}
	if pod.Spec.Priority != nil && *pod.Spec.Priority < expendable {
		return false
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

func ofDaemonSet(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == kindDaemonSet
}
