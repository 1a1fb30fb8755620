// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// repelled reports whether an anti-affinity keeps a pod from a node: its own against the pods that are near, or theirs against it.
func (s *simulation) repelled(pod *corev1.Pod, at *spot) bool {
	for _, term := range repulsion(pod) {
		if s.near(at, term.TopologyKey, func(other *corev1.Pod) bool { return selects(term, pod, other) }) {
			return true
		}
	}
	for _, one := range s.spots {
		for _, other := range one.pods {
			for _, term := range repulsion(other) {
				if sameDomain(one.node, at.node, term.TopologyKey) && selects(term, other, pod) {
					return true
				}
			}
		}
	}
	return false
}

// attracted reports whether the pods that a pod needs near itself are. The first pod of a group that needs itself may go anywhere.
func (s *simulation) attracted(pod *corev1.Pod, at *spot) bool {
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.PodAffinity == nil {
		return true
	}
	for _, term := range affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		wants := func(other *corev1.Pod) bool { return selects(term, pod, other) }
		if s.near(at, term.TopologyKey, wants) {
			continue
		}
		first := wants(pod) && !s.anywhere(wants)
		if _, has := at.node.Labels[term.TopologyKey]; !first || !has {
			return false
		}
	}
	return true
}

// skewed reports whether a pod on this node would spread its kind too unevenly.
func (s *simulation) skewed(pod *corev1.Pod, at *spot) bool {
	for i := range pod.Spec.TopologySpreadConstraints {
		constraint := &pod.Spec.TopologySpreadConstraints[i]
		if constraint.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		domain, has := at.node.Labels[constraint.TopologyKey]
		if !has {
			return true
		}
		selector, err := metav1.LabelSelectorAsSelector(constraint.LabelSelector)
		if err != nil {
			return true
		}
		counts := s.counts(pod, constraint.TopologyKey, selector)
		least := counts[domain]
		for _, count := range counts {
			least = min(least, count)
		}
		if selector.Matches(labels.Set(pod.Labels)) && counts[domain]+1-least > int(constraint.MaxSkew) {
			return true
		}
	}
	return false
}

// counts says how many pods of a kind are in each domain that a pod may go to.
func (s *simulation) counts(pod *corev1.Pod, key string, selector labels.Selector) map[string]int {
	counts := map[string]int{}
	for _, one := range s.spots {
		domain, has := one.node.Labels[key]
		if !has || !one.open || nodeRefusal(pod, one.node) == refusedSelector {
			continue
		}
		counts[domain] += len(slices.DeleteFunc(slices.Clone(one.pods), func(other *corev1.Pod) bool {
			return other.Namespace != pod.Namespace || other.DeletionTimestamp != nil || !selector.Matches(labels.Set(other.Labels))
		}))
	}
	return counts
}

// near reports whether there is such a pod in the same domain.
func (s *simulation) near(at *spot, key string, wanted func(*corev1.Pod) bool) bool {
	return slices.ContainsFunc(s.spots, func(one *spot) bool {
		return sameDomain(one.node, at.node, key) && slices.ContainsFunc(one.pods, wanted)
	})
}

func (s *simulation) anywhere(wanted func(*corev1.Pod) bool) bool {
	return slices.ContainsFunc(s.spots, func(one *spot) bool { return slices.ContainsFunc(one.pods, wanted) })
}

func sameDomain(a, b *corev1.Node, key string) bool {
	left, has := a.Labels[key]
	right, also := b.Labels[key]
	return has && also && left == right
}

func repulsion(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// selects reports whether a term of one pod means the other one. A selector of namespaces counts as all of them.
func selects(term corev1.PodAffinityTerm, of, other *corev1.Pod) bool {
	own := len(term.Namespaces) == 0 && term.NamespaceSelector == nil && other.Namespace == of.Namespace
	if !own && term.NamespaceSelector == nil && !slices.Contains(term.Namespaces, other.Namespace) {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	return err == nil && selector.Matches(labels.Set(other.Labels))
}
