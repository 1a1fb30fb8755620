// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

const (
	// annotationSafeToEvict of a pod says whether the autoscaler may have it moved.
	annotationSafeToEvict = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	// annotationScaleDownDisabled of a node keeps its machine.
	annotationScaleDownDisabled = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
)

// candidate is a node that is not needed at the moment.
type candidate struct {
	node    *corev1.Node
	machine *gardenmachinev1alpha1.Machine
	group   *group
	// moving are the pods on it that have to go elsewhere.
	moving []*corev1.Pod
	load   float64
}

// review is what a pass thinks of the nodes.
type review struct {
	// unneeded are the nodes that the shoot could do without, all of them together, in the order in which they would go.
	unneeded []*candidate
	// kept says why the others stay.
	kept map[string]string
}

// review sees which nodes are needed.
func (w *world) review() review {
	s := w.simulation()
	// Pods that will be placed soon need the room that they need.
	for _, pod := range bySize(w.pending()) {
		s.place(pod)
	}
	seen := review{kept: map[string]string{}}
	var possible []*candidate
	for _, g := range w.groups {
		for i := range g.machines {
			node := w.nodes[nodeOf(&g.machines[i])]
			if node == nil {
				continue
			}
			c := &candidate{node: node, machine: &g.machines[i], group: g}
			if why := w.needed(s, c); why != "" {
				seen.kept[node.Name] = why
				continue
			}
			possible = append(possible, c)
		}
	}
	slices.SortFunc(possible, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(len(a.moving), len(b.moving)), cmp.Compare(a.load, b.load), cmp.Compare(a.node.Name, b.node.Name))
	})
	going := map[*group]int32{}
	for _, c := range possible {
		if c.group.target()-going[c.group] <= c.group.Minimum {
			seen.kept[c.node.Name] = "the minimum of its machine deployment"
			continue
		}
		trial := s.without(c.node.Name)
		if !trial.placeAll(bySize(moving(s.spot(c.node.Name)))) {
			seen.kept[c.node.Name] = "its pods fit nowhere else"
			continue
		}
		s = trial
		going[c.group]++
		seen.unneeded = append(seen.unneeded, c)
	}
	return seen
}

// moving are the pods that have to go elsewhere if a node goes: its own, and those that the simulation has placed on it so far, which are
// pending or came from nodes that go too.
func moving(at *spot) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(at.pods), stays)
}

// needed is why the node of a candidate stays as far as it is itself concerned; it is empty if it may go. It notes what the node has.
func (w *world) needed(s *simulation, c *candidate) string {
	switch {
	case !c.group.settled():
		return "machines of its machine deployment come, go or are replaced"
	case c.node.Annotations[annotationScaleDownDisabled] == "true":
		return "annotation " + annotationScaleDownDisabled
	}
	at := s.spot(c.node.Name)
	load, threshold := load(at, w.options.IgnoreDaemonSets), c.group.ScaleDownUtilizationThreshold
	if graphics := graphicsOf(c.node); graphics != "" {
		load, threshold = share(at, graphics, w.options.IgnoreDaemonSets), c.group.ScaleDownGPUUtilizationThreshold
	}
	if c.load = load; ready(c.node) && load >= threshold {
		return fmt.Sprintf("%.2f of it is requested, which is not below %.2f", load, threshold)
	}
	for _, pod := range at.pods {
		if stays(pod) {
			continue
		}
		if !w.movable(pod) {
			return fmt.Sprintf("pod %s/%s may not be moved", pod.Namespace, pod.Name)
		}
		c.moving = append(c.moving, pod)
	}
	return ""
}

// stays reports whether a pod ends with its node: it belongs to it, ends already, or is worth nothing.
func stays(pod *corev1.Pod) bool {
	_, static := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return static || ofDaemonSet(pod) || pod.DeletionTimestamp != nil || pod.Spec.Priority != nil && *pod.Spec.Priority < expendable
}

// movable reports whether a pod may be evicted: something makes it again, its owner allows it, and its budgets do now.
func (w *world) movable(pod *corev1.Pod) bool {
	safe, err := strconv.ParseBool(pod.Annotations[annotationSafeToEvict])
	if err == nil && !safe || err != nil && metav1.GetControllerOf(pod) == nil {
		return false
	}
	return !slices.ContainsFunc(w.budgets, func(b policyv1.PodDisruptionBudget) bool {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		return err == nil && b.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels)) && b.Status.DisruptionsAllowed < 1
	})
}

// due leaves those candidates that were not needed for long enough, and no more than may go at once. Since says when each ceased to be
// needed.
func (w *world) due(candidates []*candidate, since map[string]time.Time) []*candidate {
	var going []*candidate
	drained := 0
	for _, c := range candidates {
		patience := c.group.ScaleDownUnneededTime
		if !ready(c.node) {
			patience = c.group.ScaleDownUnreadyTime
		}
		if w.now.Sub(since[c.node.Name]) < patience || len(going) >= w.options.MaxScaleDownParallelism {
			continue
		}
		if len(c.moving) > 0 {
			if drained >= w.options.MaxDrainParallelism {
				continue
			}
			drained++
		}
		going = append(going, c)
	}
	return going
}

// lastAdded is when the youngest machine of all groups was made.
func (w *world) lastAdded() time.Time {
	var last time.Time
	for _, g := range w.groups {
		for i := range g.machines {
			if at := g.machines[i].CreationTimestamp.Time; at.After(last) {
				last = at
			}
		}
	}
	return last
}
