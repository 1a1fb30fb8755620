// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// option is what a group can do for pods that have no place.
type option struct {
	group *group
	// nodes are the fresh ones.
	nodes []*spot
	// pods are those that they take.
	pods []*corev1.Pod
}

// growth is what a pass decides about pods that have no place.
type growth struct {
	// best says which group grows; nil if none does.
	best *option
	// waiting is how many pods have no place, now or soon.
	waiting int
	// hopeless says of pods that no group helps why not.
	hopeless map[*corev1.Pod]string
	// cut says that there was no time for all groups. Then nothing is said about pods that no group helps.
	cut bool
}

// grow decides which group gets how many machines. Coming are the machines that are on their way, by group: pods that they will take
// need no others. Barred are the groups that failed a short while ago: no pod relies on a machine of theirs, nor on one that should have come
// before now.
func (w *world) grow(coming map[string]int, barred map[string]bool, choose func([]*option) *option) growth {
	result := growth{hopeless: map[*corev1.Pod]string{}}
	s := w.simulation()
	for _, g := range w.groups {
		if g.fresh == nil || barred[g.Name] {
			continue
		}
		for n := range coming[g.Name] - w.overdue(g) {
			s.spots = append(s.spots, g.numbered(n))
		}
	}
	left := slices.DeleteFunc(bySize(w.pending()), s.place)
	if len(left) == 0 {
		return result
	}
	result.waiting = len(left)
	var options []*option
	reasons := map[*corev1.Pod]map[string]int{}
	for _, g := range w.groups {
		helped := &option{group: g}
		closed := g.closed(barred)
		if closed == "" {
			helped = s.option(g, coming[g.Name], left, w.late)
		}
		if len(helped.pods) > 0 {
			options = append(options, helped)
		}
		if result.cut = len(options) > 0 && w.late != nil && w.late(); result.cut {
			break
		}
		s.complain(reasons, helped, left, closed)
	}
	if result.best = choose(options); result.cut {
		return result
	}
	for _, pod := range left {
		if !slices.ContainsFunc(options, func(o *option) bool { return slices.Contains(o.pods, pod) }) {
			result.hopeless[pod] = told(reasons[pod])
		}
	}
	return result
}

// complain counts why a group does not help pods. Closed is the reason if it gets no machine at all.
func (s *simulation) complain(reasons map[*corev1.Pod]map[string]int, helped *option, pods []*corev1.Pod, closed string) {
	for _, pod := range pods {
		if slices.Contains(helped.pods, pod) {
			continue
		}
		why := closed
		if why == "" {
			why = s.why(helped.group, pod)
		}
		if reasons[pod] == nil {
			reasons[pod] = map[string]int{}
		}
		reasons[pod][why]++
	}
}

// closed is why a group gets no machine whatever is needed; it is empty if it may.
func (g *group) closed(barred map[string]bool) string {
	switch {
	case barred[g.Name]:
		return "in backoff after failed scale-up"
	case g.target() >= g.Maximum:
		return "max node group size reached"
	case g.fresh == nil:
		return "node group(s) of which nothing is known about the nodes"
	case g.deployment.Spec.Paused:
		return "node group(s) paused"
	default:
		return ""
	}
}

// option adds nodes of a group, one after the other, as long as they take pods. When it is late, the pods that have a node by then are all.
func (s *simulation) option(g *group, coming int, pods []*corev1.Pod, late func() bool) *option {
	trial, o := s.clone(), &option{group: g}
	room := int(g.Maximum - g.target())
	for _, pod := range pods {
		if len(o.pods) > 0 && late != nil && late() {
			break
		}
		if slices.ContainsFunc(o.nodes, func(one *spot) bool { return trial.put(pod, one) }) {
			o.pods = append(o.pods, pod)
			continue
		}
		if len(o.nodes) == room {
			continue
		}
		next := g.numbered(coming + len(o.nodes))
		trial.spots = append(trial.spots, next)
		if trial.put(pod, next) {
			o.nodes, o.pods = append(o.nodes, next), append(o.pods, pod)
			continue
		}
		trial.spots = trial.spots[:len(trial.spots)-1]
	}
	return o
}

// put places a pod on one node if that takes it.
func (s *simulation) put(pod *corev1.Pod, at *spot) bool {
	if s.refusal(pod, at) != "" {
		return false
	}
	at.add(pod)
	return true
}

// why is what a fresh node of a group lacks for a pod.
func (s *simulation) why(g *group, pod *corev1.Pod) string {
	trial, next := s.clone(), g.numbered(-1)
	trial.spots = append(trial.spots, next)
	return cmp.Or(trial.refusal(pod, next), "max node group size reached")
}

// told joins reasons with how often they were given.
func told(reasons map[string]int) string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		all = append(all, fmt.Sprintf("%d %s", reasons[reason], reason))
	}
	return strings.Join(all, ", ")
}
