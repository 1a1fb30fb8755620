// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"cmp"
	"reflect"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inOrder sorts objects so that each comes after what it may need. Objects of one rank keep their order.
func inOrder(objs []client.Object) []client.Object {
	sorted := slices.Clone(objs)
	slices.SortStableFunc(sorted, func(a, b client.Object) int {
		return cmp.Compare(rank(kindOf(a)), rank(kindOf(b)))
	})
	return sorted
}

// rank is the position of a kind in the order. Kinds that are not listed come after what they may refer to and before workloads.
func rank(kind string) int {
	switch kind {
	case "Namespace":
		return 0
	case "CustomResourceDefinition", "PriorityClass", "StorageClass", "RuntimeClass":
		return 1
	case "ServiceAccount", "Secret", "ConfigMap", "LimitRange", "ResourceQuota", "NetworkPolicy", "PersistentVolume", "PersistentVolumeClaim":
		return 2
	case "ClusterRole", "Role":
		return 3
	case "ClusterRoleBinding", "RoleBinding":
		return 4
	case "Service":
		return 5
	case "Pod", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "PodDisruptionBudget", "HorizontalPodAutoscaler":
		return 7
	case "APIService", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return 8
	default:
		return 6
	}
}

// kindOf needs no scheme: the Go type of a Kubernetes object is named after its kind.
func kindOf(obj client.Object) string {
	if kind := obj.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(obj).Elem().Name()
}
