// SPDX-License-Identifier: Apache-2.0

package cloudcontroller

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

// AnnotationApplied is what Complete has last set on a Node: the value of machinepod.AnnotationNode at that time. Without it nobody could tell
// what a pool no longer says from what others have set.
const AnnotationApplied = "local.provider.extensions.gardener.cloud/applied"

// Complete sets on the Node what its machine says it should carry, and takes off what it said before and does not say any more. Labels,
// annotations and taints that others set stay.
func Complete(node *corev1.Node, pod *corev1.Pod) error {
	template := machinepod.NodeTemplate{}
	data := pod.Annotations[machinepod.AnnotationNode]
	if data != "" {
		if err := json.Unmarshal([]byte(data), &template); err != nil {
			return fmt.Errorf("read node template of machine %q: %w", pod.Name, err)
		}
	}
	// The provider ID of a Node cannot be changed once it is set.
	node.Spec.ProviderID = cmp.Or(node.Spec.ProviderID, machinepod.ProviderID(pod.Namespace, pod.Name))
	withdraw(node, pod.Annotations[machinepod.AnnotationFormer], template)
	set(&node.Labels, template.Labels)
	set(&node.Annotations, template.Annotations)
	for _, want := range template.Taints {
		index := slices.IndexFunc(node.Spec.Taints, func(have corev1.Taint) bool { return have.MatchTaint(&want) })
		if index < 0 {
			node.Spec.Taints = append(node.Spec.Taints, want)
			continue
		}
		node.Spec.Taints[index].Value = want.Value
	}
	if data != "" {
		metav1.SetMetaDataAnnotation(&node.ObjectMeta, AnnotationApplied, data)
	}
	return nil
}

// withdraw takes off what was set before and is not wanted now, unless somebody has changed it. The Node says what was set last, and its
// kubelet can write that too: it may not take off taints and some of the labels. So nothing goes that the pod of the machine, which no node
// can write, has not asked for at some time. An annotation that cannot be read says nothing.
func withdraw(node *corev1.Node, asked string, template machinepod.NodeTemplate) {
	before, former := machinepod.NodeTemplate{}, machinepod.NodeTemplate{}
	if json.Unmarshal([]byte(node.Annotations[AnnotationApplied]), &before) != nil || json.Unmarshal([]byte(asked), &former) != nil {
		return
	}
	keepCommon(before.Labels, former.Labels)
	keepCommon(before.Annotations, former.Annotations)
	unset(node.Labels, before.Labels, template.Labels)
	unset(node.Annotations, before.Annotations, template.Annotations)
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(have corev1.Taint) bool {
		same := func(t corev1.Taint) bool { return have.MatchTaint(&t) && have.Value == t.Value }
		was := slices.ContainsFunc(before.Taints, same) && slices.ContainsFunc(former.Taints, same)
		return was && !slices.ContainsFunc(template.Taints, func(t corev1.Taint) bool { return have.MatchTaint(&t) })
	})
}

// keepCommon leaves only what the others have with the same value.
func keepCommon(values, others map[string]string) {
	maps.DeleteFunc(values, func(key, value string) bool {
		other, found := others[key]
		return !found || other != value
	})
}

func unset(values, before, wanted map[string]string) {
	for key, was := range before {
		if _, stays := wanted[key]; !stays && values[key] == was {
			delete(values, key)
		}
	}
}

// set sets the values. One that is empty says nothing about where a Node is.
func set(values *map[string]string, wanted map[string]string) {
	for key, value := range wanted {
		if value == "" && (key == corev1.LabelTopologyRegion || key == corev1.LabelTopologyZone) {
			continue
		}
		if *values == nil {
			*values = map[string]string{}
		}
		(*values)[key] = value
	}
}

// NodeReady returns the condition that reports to the machine in the seed whether its Node is ready. The owner of the shoot writes what it
// repeats, so that is cut.
func NodeReady(node *corev1.Node) corev1.PodCondition {
	condition := corev1.PodCondition{
		Type:    machinepod.ConditionNodeReady,
		Status:  corev1.ConditionFalse,
		Reason:  "NodeStatusUnknown",
		Message: "the kubelet has not reported yet",
	}
	for _, have := range node.Status.Conditions {
		if have.Type != corev1.NodeReady {
			continue
		}
		condition.Reason, condition.Message = operation.Cut(have.Reason), operation.Cut(have.Message)
		if have.Status == corev1.ConditionTrue {
			condition.Status = corev1.ConditionTrue
		}
	}
	return condition
}

// Report sets the condition in the status of the machine. The time of the transition changes only with the status.
func Report(pod *corev1.Pod, condition corev1.PodCondition, now metav1.Time) {
	condition.LastTransitionTime = now
	index := slices.IndexFunc(pod.Status.Conditions, func(have corev1.PodCondition) bool { return have.Type == condition.Type })
	if index < 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, condition)
		return
	}
	if have := pod.Status.Conditions[index]; have.Status == condition.Status {
		condition.LastTransitionTime = have.LastTransitionTime
	}
	pod.Status.Conditions[index] = condition
}

// WrongAddress returns the internal address of the Node if its machine has another one. The kubelet reports addresses itself, so a
// difference is only reported, not corrected.
func WrongAddress(node *corev1.Node, pod *corev1.Pod) (string, bool) {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP && pod.Status.PodIP != "" && address.Address != pod.Status.PodIP {
			return address.Address, true
		}
	}
	return "", false
}
