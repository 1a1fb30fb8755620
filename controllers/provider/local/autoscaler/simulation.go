// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// spot is a node of a simulation, with the pods on it.
type spot struct {
	node *corev1.Node
	pods []*corev1.Pod
	used corev1.ResourceList
	// open says that pods can be placed here.
	open bool
}

// simulation is a cluster in which pods are placed to see what would happen.
type simulation struct {
	spots []*spot
}

func newSpot(node *corev1.Node, open bool, pods ...*corev1.Pod) *spot {
	s := &spot{node: node, used: corev1.ResourceList{}, open: open}
	for _, pod := range pods {
		s.add(pod)
	}
	return s
}

func (s *spot) add(pod *corev1.Pod) {
	s.pods = append(s.pods, pod)
	for name, amount := range requests(pod) {
		sum := s.used[name].DeepCopy()
		sum.Add(amount)
		s.used[name] = sum
	}
}

func (s *spot) clone() *spot {
	twin := &spot{node: s.node, pods: slices.Clone(s.pods), used: corev1.ResourceList{}, open: s.open}
	for name, amount := range s.used {
		twin.used[name] = amount.DeepCopy()
	}
	return twin
}

func (s *simulation) clone() *simulation {
	twin := &simulation{spots: make([]*spot, 0, len(s.spots))}
	for _, one := range s.spots {
		twin.spots = append(twin.spots, one.clone())
	}
	return twin
}

// without is a copy that lacks a node.
func (s *simulation) without(node string) *simulation {
	twin := s.clone()
	twin.spots = slices.DeleteFunc(twin.spots, func(one *spot) bool { return one.node.Name == node })
	return twin
}

func (s *simulation) spot(node string) *spot {
	for _, one := range s.spots {
		if one.node.Name == node {
			return one
		}
	}
	return nil
}

// place puts a pod on the first node that takes it.
func (s *simulation) place(pod *corev1.Pod) bool {
	for _, one := range s.spots {
		if one.open && s.refusal(pod, one) == "" {
			one.add(pod)
			return true
		}
	}
	return false
}

// placeAll puts all pods somewhere, or reports that one fits nowhere.
func (s *simulation) placeAll(pods []*corev1.Pod) bool {
	return !slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return !s.place(pod) })
}

// requests are what a pod needs of a node, itself included.
func requests(pod *corev1.Pod) corev1.ResourceList {
	all := corev1.ResourceList{}
	maps.Copy(all, resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
	all[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return all
}

// bySize orders pods from large to small, so that the small ones fill the gaps.
func bySize(pods []*corev1.Pod) []*corev1.Pod {
	sorted := slices.Clone(pods)
	slices.SortStableFunc(sorted, func(a, b *corev1.Pod) int {
		left, right := requests(a), requests(b)
		if c := right.Cpu().Cmp(*left.Cpu()); c != 0 {
			return c
		}
		return right.Memory().Cmp(*left.Memory())
	})
	return sorted
}
