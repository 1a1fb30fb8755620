// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Healthy reports whether a live object serves, even while a new version of it is rolled out. Periodic checks ask it, while a
// deployment waits for Ready. If not, it gives the reason in words.
func Healthy(obj client.Object) (bool, string) {
	reason := unhealthy(typed(obj))
	return reason == "", reason
}

func unhealthy(obj client.Object) string {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return cmp.Or(unobserved(o, o.Status.ObservedGeneration), deploymentUnhealthy(o))
	case *appsv1.StatefulSet:
		return cmp.Or(unobserved(o, o.Status.ObservedGeneration), fewer(o.Status.ReadyReplicas, ptr.Deref(o.Spec.Replicas, 1), "ready"))
	case *appsv1.DaemonSet:
		return cmp.Or(
			unobserved(o, o.Status.ObservedGeneration),
			fewer(o.Status.CurrentNumberScheduled, o.Status.DesiredNumberScheduled, "scheduled"), daemonSetUnhealthy(o),
		)
	case *batchv1.Job: // one that still runs is healthy
		for _, c := range o.Status.Conditions {
			if c.Type == batchv1.JobFailed && c.Status != corev1.ConditionFalse {
				return "the job failed: " + c.Message
			}
		}
		return ""
	case *corev1.Pod:
		if o.Status.Phase == corev1.PodRunning {
			return ""
		}
	case *unstructured.Unstructured:
		return foreignUnhealthy(o)
	}
	return unready(obj)
}

func deploymentUnhealthy(d *appsv1.Deployment) string {
	available := false
	for _, c := range d.Status.Conditions {
		switch {
		case c.Type == appsv1.DeploymentAvailable:
			available = c.Status == corev1.ConditionTrue
		case c.Type == appsv1.DeploymentProgressing && c.Status != corev1.ConditionTrue:
			return "it makes no progress: " + c.Message
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status != corev1.ConditionFalse:
			return "pods cannot be created: " + c.Message
		}
	}
	if !available {
		return fmt.Sprintf("%d of %d pods are available", d.Status.AvailableReplicas, ptr.Deref(d.Spec.Replicas, 1))
	}
	return ""
}

// daemonSetUnhealthy tolerates as many missing pods as an update may take away.
func daemonSetUnhealthy(d *appsv1.DaemonSet) string {
	s, tolerated := d.Status, 0
	if update := d.Spec.UpdateStrategy.RollingUpdate; update != nil && update.MaxUnavailable != nil && s.UpdatedNumberScheduled < s.DesiredNumberScheduled {
		if n, err := intstr.GetScaledValueFromIntOrPercent(update.MaxUnavailable, int(s.DesiredNumberScheduled), false); err == nil {
			tolerated = n
		}
	}
	switch {
	case s.NumberMisscheduled > 0:
		return fmt.Sprintf("%d pods run where they should not", s.NumberMisscheduled)
	case int(s.NumberUnavailable) > tolerated:
		return fmt.Sprintf("%d of %d pods are unavailable", s.NumberUnavailable, s.DesiredNumberScheduled)
	default:
		return ""
	}
}
