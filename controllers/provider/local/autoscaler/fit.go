// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"maps"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// Reasons why a node does not take a pod, as events tell them.
const (
	refusedTaint    = "node(s) had untolerated taints"
	refusedSelector = "node(s) didn't match the pod's node selector or affinity"
	refusedPort     = "node(s) didn't have free host ports"
	refusedAffinity = "node(s) didn't match the pod's affinity to other pods"
	refusedRepelled = "node(s) didn't satisfy anti-affinity between pods"
	refusedSpread   = "node(s) didn't match the pod's topology spread constraints"
	refusedScarce   = "Insufficient "
)

// refusal is why a node does not take a pod now; it is empty if it does.
func (s *simulation) refusal(pod *corev1.Pod, at *spot) string {
	if reason := nodeRefusal(pod, at.node); reason != "" {
		return reason
	}
	if name, scarce := lacks(pod, at); scarce {
		return refusedScarce + string(name)
	}
	switch {
	case portTaken(pod, at):
		return refusedPort
	case s.repelled(pod, at):
		return refusedRepelled
	case !s.attracted(pod, at):
		return refusedAffinity
	case s.skewed(pod, at):
		return refusedSpread
	}
	return ""
}

// nodeRefusal is why a node would not take a pod even if it were empty, except for its size.
func nodeRefusal(pod *corev1.Pod, node *corev1.Node) string {
	_, refused := schedulinghelper.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, pod.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, true)
	if refused {
		return refusedTaint
	}
	// An affinity that cannot be read matches nothing, for the scheduler as well.
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !fits {
		return refusedSelector
	}
	return ""
}

// lacks names the first resource of which a node has too little.
func lacks(pod *corev1.Pod, at *spot) (corev1.ResourceName, bool) {
	wanted := requests(pod)
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		amount := wanted[name]
		if amount.IsZero() {
			continue
		}
		free := at.node.Status.Allocatable[name].DeepCopy()
		free.Sub(at.used[name])
		if free.Cmp(amount) < 0 {
			return name, true
		}
	}
	return "", false
}

// portTaken reports whether another pod has one of the ports of the host that this one wants.
func portTaken(pod *corev1.Pod, at *spot) bool {
	wanted := hostPorts(pod)
	if len(wanted) == 0 {
		return false
	}
	for _, other := range at.pods {
		for _, have := range hostPorts(other) {
			if slices.ContainsFunc(wanted, func(want corev1.ContainerPort) bool { return clash(want, have) }) {
				return true
			}
		}
	}
	return false
}

func hostPorts(pod *corev1.Pod) []corev1.ContainerPort {
	var all []corev1.ContainerPort
	for i := range pod.Spec.Containers {
		for _, port := range pod.Spec.Containers[i].Ports {
			if port.HostPort > 0 {
				all = append(all, port)
			}
		}
	}
	return all
}

func clash(a, b corev1.ContainerPort) bool {
	protocol := func(p corev1.ContainerPort) corev1.Protocol {
		if p.Protocol == "" {
			return corev1.ProtocolTCP
		}
		return p.Protocol
	}
	all := func(p corev1.ContainerPort) bool { return p.HostIP == "" || p.HostIP == "0.0.0.0" || p.HostIP == "::" }
	return a.HostPort == b.HostPort && protocol(a) == protocol(b) && (a.HostIP == b.HostIP || all(a) || all(b))
}
