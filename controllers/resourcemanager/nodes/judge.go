// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Reasons of the events of nodes.
const (
	reasonUnscheduled = "UnscheduledNodeCriticalDaemonSets"
	reasonUnready     = "UnreadyNodeCriticalPods"
	reasonDrivers     = "UnreadyRequiredCSIDrivers"
	reasonReady       = "NodeCriticalComponentsReady"
)

// driverPrefix begins the annotations of pods with the names of storage drivers that have to be registered.
const driverPrefix = "node.gardener.cloud/wait-for-csi-node-"

// Judge returns what a node waits for, as the reason and the message of an event; nothing if it can be opened.
func Judge(node *corev1.Node, s State) (reason, message string) {
	var missing, unready, unregistered []string
	for i := range s.DaemonSets {
		set := &s.DaemonSets[i]
		mine := func(pod corev1.Pod) bool { return metav1.IsControlledBy(&pod, set) }
		if wanted(set, node) && !slices.ContainsFunc(s.Pods, mine) {
			missing = append(missing, set.Name)
		}
	}
	for i := range s.Pods {
		pod := &s.Pods[i]
		if pod.DeletionTimestamp == nil && !ready(pod) {
			unready = append(unready, pod.Name)
		}
		for key, driver := range pod.Annotations {
			if strings.HasPrefix(key, driverPrefix) && !slices.Contains(s.Drivers, driver) {
				unregistered = append(unregistered, driver)
			}
		}
	}
	for _, c := range []struct {
		reason, message string
		names           []string
	}{
		{reasonUnscheduled, "These DaemonSets have no pod on the node yet: ", missing},
		{reasonUnready, "These pods are not ready: ", unready},
		{reasonDrivers, "These storage drivers are not registered: ", unregistered},
	} {
		if len(c.names) > 0 {
			slices.Sort(c.names)
			return c.reason, c.message + strings.Join(slices.Compact(c.names), ", ")
		}
	}
	return "", ""
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// wanted reports whether a DaemonSet has to have a pod on a node. Its pods have to be critical too, and they have to fit the node and
// its taints.
func wanted(set *appsv1.DaemonSet, node *corev1.Node) bool {
	template := &set.Spec.Template
	if set.DeletionTimestamp != nil || template.Labels[gardencorev1beta1.LabelNodeCriticalComponent] != "true" {
		return false
	}
	fits, err := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: template.Spec}).Match(node)
	if err != nil || !fits {
		return false
	}
	return !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return keepsAway(t, &template.Spec) })
}

// keepsAway reports whether a taint keeps the pods of a DaemonSet from a node. Those that Kubernetes itself puts on nodes that have
// trouble do not, because it lets every DaemonSet tolerate them; the taint of new nodes is tolerated by all that is critical.
func keepsAway(t corev1.Taint, pod *corev1.PodSpec) bool {
	if t.Effect == corev1.TaintEffectPreferNoSchedule || t.Key == taint || strings.HasPrefix(t.Key, "node.kubernetes.io/") {
		return false
	}
	return !slices.ContainsFunc(pod.Tolerations, func(tolerated corev1.Toleration) bool {
		return (tolerated.Effect == "" || tolerated.Effect == t.Effect) && (tolerated.Key == "" || tolerated.Key == t.Key) &&
			(tolerated.Operator == corev1.TolerationOpExists || tolerated.Value == t.Value)
	})
}
