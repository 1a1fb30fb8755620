// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	corev1 "k8s.io/api/core/v1"
)

// graphics are the names of the resources that stand for graphics processors.
func graphics() []corev1.ResourceName {
	return []corev1.ResourceName{"nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "microsoft.com/directx"}
}

// graphicsOf is the kind of graphics processors that a node has; empty if it has none.
func graphicsOf(node *corev1.Node) corev1.ResourceName {
	for _, name := range graphics() {
		if have := node.Status.Allocatable[name]; !have.IsZero() {
			return name
		}
	}
	return ""
}

// load is the share of processors or memory that is requested, whichever is greater.
func load(at *spot, ignoreDaemonSets bool) float64 {
	return max(share(at, corev1.ResourceCPU, ignoreDaemonSets), share(at, corev1.ResourceMemory, ignoreDaemonSets))
}

// share is how much of a resource of a node is requested.
func share(at *spot, name corev1.ResourceName, ignoreDaemonSets bool) float64 {
	have := at.node.Status.Allocatable[name]
	if have.IsZero() {
		return 0
	}
	used := 0.0
	for _, pod := range at.pods {
		if amount := requests(pod)[name]; !ignoreDaemonSets || !ofDaemonSet(pod) {
			used += amount.AsApproximateFloat64()
		}
	}
	return used / have.AsApproximateFloat64()
}
