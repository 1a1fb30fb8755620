// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"maps"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

const (
	// labelName is the label of Machines with the name of their deployment.
	labelName = "name"
	// podsOfNode is how many pods a node takes that nobody has seen yet.
	podsOfNode = 110
)

// group is a machine deployment whose number of machines may change.
type group struct {
	Bounds
	Settings

	deployment *gardenmachinev1alpha1.MachineDeployment
	// machines are those that are not being deleted, in order of name.
	machines []gardenmachinev1alpha1.Machine
	// fresh is what a new node would be; nil if nothing is known about it.
	fresh *corev1.Node
	// daemons are the pods that every fresh node gets by itself.
	daemons []*corev1.Pod
}

func (g *group) target() int32 { return g.deployment.Spec.Replicas }

// settled reports whether the group has the machines that it wants, all of one class. Otherwise something else changes it at the moment.
func (g *group) settled() bool {
	class := g.deployment.Spec.Template.Spec.Class.Name
	return !g.deployment.Spec.Paused && int(g.target()) == len(g.machines) &&
		!slices.ContainsFunc(g.machines, func(m gardenmachinev1alpha1.Machine) bool { return m.Spec.Class.Name != class })
}

// nodeOf is the name of the node of a machine.
func nodeOf(m *gardenmachinev1alpha1.Machine) string {
	if name := m.Labels[gardenmachinev1alpha1.LabelNode]; name != "" {
		return name
	}
	return m.Name
}

// overridden are settings with what the annotations of a deployment say. What cannot be read does not count.
func overridden(s Settings, annotations map[string]string) Settings {
	duration := func(name string, value *time.Duration) {
		if d, err := time.ParseDuration(annotations[name]); err == nil && d >= 0 {
			*value = d
		}
	}
	duration(gardenmachinev1alpha1.AnnotationScaleDownUnneededTime, &s.ScaleDownUnneededTime)
	duration(gardenmachinev1alpha1.AnnotationScaleDownUnreadyTime, &s.ScaleDownUnreadyTime)
	duration(gardenmachinev1alpha1.AnnotationMaxNodeProvisionTime, &s.MaxNodeProvisionTime)
	share := func(name string, value *float64) {
		if f, err := strconv.ParseFloat(annotations[name], 64); err == nil {
			*value = f
		}
	}
	share(gardenmachinev1alpha1.AnnotationScaleDownUtilizationThreshold, &s.ScaleDownUtilizationThreshold)
	share(gardenmachinev1alpha1.AnnotationScaleDownGPUUtilizationThreshold, &s.ScaleDownGPUUtilizationThreshold)
	return s
}

// freshNode is what a new node of a deployment would be: like one that it has, or else as its class says.
func freshNode(d *gardenmachinev1alpha1.MachineDeployment, class *gardenmachinev1alpha1.NodeTemplate, like *corev1.Node) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}
	switch {
	case like != nil:
		maps.Copy(node.Labels, like.Labels)
		node.Status.Allocatable = like.Status.Allocatable
	case class != nil:
		maps.Copy(node.Labels, map[string]string{
			corev1.LabelOSStable: "linux", corev1.LabelInstanceTypeStable: class.InstanceType,
			corev1.LabelTopologyRegion: class.Region, corev1.LabelTopologyZone: class.Zone,
		})
		if class.Architecture != nil {
			node.Labels[corev1.LabelArchStable] = *class.Architecture
		}
		node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(podsOfNode, resource.DecimalSI)}
		maps.Copy(node.Status.Allocatable, class.Capacity)
		maps.Copy(node.Status.Allocatable, class.VirtualCapacity)
	default:
		return nil
	}
	template := d.Spec.Template.Spec.NodeTemplate
	maps.Copy(node.Labels, template.Labels)
	node.Spec.Taints = template.Spec.Taints
	return node
}

// numbered is a fresh node of a group with a name of its own.
func (g *group) numbered(number int) *spot {
	node := g.fresh.DeepCopy()
	node.Name = g.Name + "-fresh-" + strconv.Itoa(number)
	node.Labels[corev1.LabelHostname] = node.Name
	return newSpot(node, true, g.daemons...)
}

// daemonsOn are the pods of DaemonSets that a node gets.
func daemonsOn(node *corev1.Node, sets []appsv1.DaemonSet) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range sets {
		set := &sets[i]
		pod := &corev1.Pod{ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(), Spec: set.Spec.Template.Spec}
		pod.Namespace, pod.Name = set.Namespace, set.Name
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind(kindDaemonSet))}
		if set.DeletionTimestamp == nil && nodeRefusal(pod, node) == "" {
			pods = append(pods, pod)
		}
	}
	return pods
}
