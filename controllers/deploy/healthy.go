// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Healthy tells whether a live object serves, even while a new version of it is being rolled out. It is what periodic
// checks ask; Ready is what a deployment waits for. If the answer is no, it gives a reason in words.
func Healthy(obj client.Object) (bool, string) {
	switch o := typed(obj).(type) {
	case *appsv1.Deployment:
		return deploymentHealthy(o)
	case *appsv1.StatefulSet:
		if o.Status.ObservedGeneration < o.Generation {
			return false, notObserved
		}
		if want := replicas(o.Spec.Replicas); o.Status.ReadyReplicas < want {
			return false, fmt.Sprintf("%d of %d pods are ready", o.Status.ReadyReplicas, want)
		}
		return true, ""
	case *appsv1.DaemonSet:
		return daemonSetHealthy(o)
	case *batchv1.Job:
		return jobHealthy(o)
	case *corev1.Pod:
		if o.Status.Phase == corev1.PodRunning || o.Status.Phase == corev1.PodSucceeded {
			return true, ""
		}
		return podReady(o)
	default:
		return Ready(obj)
	}
}

// jobHealthy is content with a job that still runs.
func jobHealthy(j *batchv1.Job) (bool, string) {
	for _, c := range j.Status.Conditions {
		if c.Type == batchv1.JobFailed && c.Status != corev1.ConditionFalse {
			return false, "the job failed: " + c.Message
		}
	}
	return true, ""
}

func deploymentHealthy(d *appsv1.Deployment) (bool, string) {
	if d.Status.ObservedGeneration < d.Generation {
		return false, notObserved
	}
	available := false
	for _, c := range d.Status.Conditions {
		switch {
		case c.Type == appsv1.DeploymentAvailable:
			available = c.Status == corev1.ConditionTrue
		case c.Type == appsv1.DeploymentProgressing && c.Status != corev1.ConditionTrue:
			return false, "it makes no progress: " + c.Message
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status != corev1.ConditionFalse:
			return false, "pods cannot be created: " + c.Message
		}
	}
	if !available {
		return false, fmt.Sprintf("%d of %d pods are available", d.Status.AvailableReplicas, replicas(d.Spec.Replicas))
	}
	return true, ""
}

func daemonSetHealthy(d *appsv1.DaemonSet) (bool, string) {
	s := d.Status
	if s.ObservedGeneration < d.Generation {
		return false, notObserved
	}
	if s.CurrentNumberScheduled < s.DesiredNumberScheduled {
		return false, fmt.Sprintf("%d of %d pods are scheduled", s.CurrentNumberScheduled, s.DesiredNumberScheduled)
	}
	if s.NumberMisscheduled > 0 {
		return false, fmt.Sprintf("%d pods run where they should not", s.NumberMisscheduled)
	}
	tolerated := 0
	if update := d.Spec.UpdateStrategy.RollingUpdate; update != nil && update.MaxUnavailable != nil && s.UpdatedNumberScheduled < s.DesiredNumberScheduled {
		n, err := intstr.GetScaledValueFromIntOrPercent(update.MaxUnavailable, int(s.DesiredNumberScheduled), false)
		if err == nil {
			tolerated = n
		}
	}
	if int(s.NumberUnavailable) > tolerated {
		return false, fmt.Sprintf("%d of %d pods are unavailable", s.NumberUnavailable, s.DesiredNumberScheduled)
	}
	return true, ""
}
