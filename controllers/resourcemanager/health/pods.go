// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// oldPods says that a Deployment has more pods than it wants: its status does not count those that end, and these may still act
// (GRM-PROG-2). As long as there are not more, it costs a list of their metadata.
func oldPods(ctx context.Context, cluster client.Client, live *unstructured.Unstructured) (string, error) {
	d := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, d); err != nil {
		return "", fmt.Errorf("read Deployment %q: %w", client.ObjectKeyFromObject(live), err)
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return "", fmt.Errorf("read the selector of Deployment %q: %w", client.ObjectKeyFromObject(d), err)
	}
	options := []client.ListOption{client.InNamespace(d.Namespace), client.MatchingLabelsSelector{Selector: selector}}
	want := int(ptr.Deref(d.Spec.Replicas, 1))
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	if err := cluster.List(ctx, all, options...); err != nil {
		return "", fmt.Errorf("list the pods of Deployment %q: %w", client.ObjectKeyFromObject(d), err)
	}
	if len(all.Items) <= want {
		return "", nil
	}
	pods := &corev1.PodList{}
	if err := cluster.List(ctx, pods, options...); err != nil {
		return "", fmt.Errorf("list the pods of Deployment %q: %w", client.ObjectKeyFromObject(d), err)
	}
	there := len(slices.DeleteFunc(pods.Items, past))
	if there <= want {
		return "", nil
	}
	return fmt.Sprintf("%d pods exist, %d are wanted: old ones are still there", there, want), nil
}

// past reports whether a pod does nothing any more: it has ended, its node has given it up, or something else than a rollout ends it.
func past(pod corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return true
	}
	switch pod.Status.Reason {
	case "Evicted", "NodeLost", "NodeAffinity", "OutOfcpu", "OutOfmemory", "OutOfpods":
		return true
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue ||
			c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && c.Reason == "PodCompleted"
	})
}
