// SPDX-License-Identifier: Apache-2.0

package cloudcontroller

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
)

// ProviderID identifies a machine across all providers.
func ProviderID(pod *corev1.Pod) string {
	return fmt.Sprintf("local:///%s/%s", pod.Namespace, pod.Name)
}

// Complete changes the Node into what its machine says it should be, and tells whether anything changed. Labels, annotations and taints
// that others set stay.
func Complete(node *corev1.Node, pod *corev1.Pod) (bool, error) {
	template := machinedeployment.NodeTemplate{}
	if data := pod.Annotations[machinedeployment.AnnotationNode]; data != "" {
		if err := json.Unmarshal([]byte(data), &template); err != nil {
			return false, fmt.Errorf("read node template of machine %q: %w", pod.Name, err)
		}
	}
	changed := false
	// The provider ID of a Node cannot be changed once it is set.
	if node.Spec.ProviderID == "" {
		node.Spec.ProviderID = ProviderID(pod)
		changed = true
	}
	for key, value := range template.Labels {
		changed = set(&node.Labels, key, value) || changed
	}
	changed = set(&node.Labels, corev1.LabelTopologyRegion, template.Region) || changed
	changed = set(&node.Labels, corev1.LabelTopologyZone, template.Zone) || changed
	for key, value := range template.Annotations {
		changed = set(&node.Annotations, key, value) || changed
	}
	for _, taint := range template.Taints {
		changed = taintWith(node, taint) || changed
	}
	return changed, nil
}

func set(values *map[string]string, key, value string) bool {
	if value == "" || (*values)[key] == value {
		return false
	}
	if *values == nil {
		*values = map[string]string{}
	}
	(*values)[key] = value
	return true
}

func taintWith(node *corev1.Node, want corev1.Taint) bool {
	index := slices.IndexFunc(node.Spec.Taints, func(have corev1.Taint) bool { return have.MatchTaint(&want) })
	switch {
	case index < 0:
		node.Spec.Taints = append(node.Spec.Taints, want)
	case node.Spec.Taints[index].Value != want.Value:
		node.Spec.Taints[index].Value = want.Value
	default:
		return false
	}
	return true
}

// NodeReady is the condition by which the machine in the seed knows how its Node is.
func NodeReady(node *corev1.Node) corev1.PodCondition {
	condition := corev1.PodCondition{
		Type:    machinedeployment.ConditionNodeReady,
		Status:  corev1.ConditionFalse,
		Reason:  "NodeStatusUnknown",
		Message: "the kubelet has not reported yet",
	}
	for _, have := range node.Status.Conditions {
		if have.Type != corev1.NodeReady {
			continue
		}
		condition.Reason, condition.Message = have.Reason, have.Message
		if have.Status == corev1.ConditionTrue {
			condition.Status = corev1.ConditionTrue
		}
	}
	return condition
}

// Report puts the condition into the status of the machine, and tells whether that changed anything.
func Report(pod *corev1.Pod, condition corev1.PodCondition, now metav1.Time) bool {
	index := slices.IndexFunc(pod.Status.Conditions, func(have corev1.PodCondition) bool { return have.Type == condition.Type })
	condition.LastTransitionTime = now
	if index < 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
		return true
	}
	have := pod.Status.Conditions[index]
	if have.Status == condition.Status {
		condition.LastTransitionTime = have.LastTransitionTime
	}
	pod.Status.Conditions[index] = condition
	return have.Status != condition.Status || have.Reason != condition.Reason || have.Message != condition.Message
}

// WrongAddress returns the internal address that the Node claims if its machine has another one. The kubelet reports addresses itself, so a
// difference is told and not corrected.
func WrongAddress(node *corev1.Node, pod *corev1.Pod) (string, bool) {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP && pod.Status.PodIP != "" && address.Address != pod.Status.PodIP {
			return address.Address, true
		}
	}
	return "", false
}
