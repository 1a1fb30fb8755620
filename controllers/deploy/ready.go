// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const notObserved = "the last change is not observed yet"

// Ready tells whether a live object does what it is for, as far as its status says: a workload runs with all its replicas
// in their newest form, a load balancer has an address, a definition is served. If not, it gives a reason in words.
// Objects of other kinds are ready once they exist.
func Ready(obj client.Object) (bool, string) {
	switch o := typed(obj).(type) {
	case *appsv1.Deployment:
		return deploymentReady(o)
	case *appsv1.StatefulSet:
		return statefulSetReady(o)
	case *appsv1.DaemonSet:
		return daemonSetReady(o)
	case *appsv1.ReplicaSet:
		return replicaSetReady(o)
	case *batchv1.Job:
		return jobReady(o)
	case *corev1.Service:
		if o.Spec.Type == corev1.ServiceTypeLoadBalancer && len(o.Status.LoadBalancer.Ingress) == 0 {
			return false, "the load balancer has no address yet"
		}
		return true, ""
	case *corev1.Pod:
		return podReady(o)
	case *apiextensionsv1.CustomResourceDefinition:
		return definitionReady(o)
	default:
		return true, ""
	}
}

// typed turns an unstructured object of a known kind into its Go type and returns everything else as it is.
func typed(obj client.Object) client.Object {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj
	}
	gvk := u.GroupVersionKind()
	var into client.Object
	switch gvk.GroupKind().String() {
	case "Deployment.apps":
		into = &appsv1.Deployment{}
	case "StatefulSet.apps":
		into = &appsv1.StatefulSet{}
	case "DaemonSet.apps":
		into = &appsv1.DaemonSet{}
	case "ReplicaSet.apps":
		into = &appsv1.ReplicaSet{}
	case "Job.batch":
		into = &batchv1.Job{}
	case "Service":
		into = &corev1.Service{}
	case "Pod":
		into = &corev1.Pod{}
	case "CustomResourceDefinition.apiextensions.k8s.io":
		into = &apiextensionsv1.CustomResourceDefinition{}
	default:
		return obj
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
		return obj
	}
	return into
}

func deploymentReady(d *appsv1.Deployment) (bool, string) {
	if d.Status.ObservedGeneration < d.Generation {
		return false, notObserved
	}
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			return false, "pods cannot be created: " + c.Message
		}
	}
	want := replicas(d.Spec.Replicas)
	if d.Status.UpdatedReplicas < want {
		return false, fmt.Sprintf("%d of %d pods are updated", d.Status.UpdatedReplicas, want)
	}
	if d.Status.AvailableReplicas < want {
		return false, fmt.Sprintf("%d of %d pods are available", d.Status.AvailableReplicas, want)
	}
	if d.Status.Replicas > want {
		return false, fmt.Sprintf("%d old pods are still there", d.Status.Replicas-want)
	}
	return true, ""
}

func statefulSetReady(s *appsv1.StatefulSet) (bool, string) {
	if s.Status.ObservedGeneration < s.Generation {
		return false, notObserved
	}
	want := replicas(s.Spec.Replicas)
	if s.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && want > 0 && s.Status.UpdateRevision != s.Status.CurrentRevision &&
		s.Status.UpdatedReplicas < want {
		return false, fmt.Sprintf("%d of %d pods are updated", s.Status.UpdatedReplicas, want)
	}
	if s.Status.ReadyReplicas < want {
		return false, fmt.Sprintf("%d of %d pods are ready", s.Status.ReadyReplicas, want)
	}
	return true, ""
}

func daemonSetReady(d *appsv1.DaemonSet) (bool, string) {
	if d.Status.ObservedGeneration < d.Generation {
		return false, notObserved
	}
	want := d.Status.DesiredNumberScheduled
	if d.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType && d.Status.UpdatedNumberScheduled < want {
		return false, fmt.Sprintf("%d of %d pods are updated", d.Status.UpdatedNumberScheduled, want)
	}
	if d.Status.NumberAvailable < want {
		return false, fmt.Sprintf("%d of %d pods are available", d.Status.NumberAvailable, want)
	}
	return true, ""
}

func replicaSetReady(s *appsv1.ReplicaSet) (bool, string) {
	if s.Status.ObservedGeneration < s.Generation {
		return false, notObserved
	}
	if want := replicas(s.Spec.Replicas); s.Status.ReadyReplicas < want {
		return false, fmt.Sprintf("%d of %d pods are ready", s.Status.ReadyReplicas, want)
	}
	return true, ""
}

func jobReady(j *batchv1.Job) (bool, string) {
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		if c.Type == batchv1.JobComplete {
			return true, ""
		}
		if c.Type == batchv1.JobFailed {
			return false, "the job failed: " + c.Message
		}
	}
	return false, "the job is not complete"
}

func podReady(p *corev1.Pod) (bool, string) {
	if p.Status.Phase == corev1.PodSucceeded {
		return true, ""
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return true, ""
		}
	}
	if trouble, found := podTrouble(p); found {
		return false, trouble.text
	}
	return false, "the pod is not ready"
}

func definitionReady(d *apiextensionsv1.CustomResourceDefinition) (bool, string) {
	accepted, established := false, false
	for _, c := range d.Status.Conditions {
		switch c.Type {
		case apiextensionsv1.NamesAccepted:
			accepted = c.Status == apiextensionsv1.ConditionTrue
			if c.Status == apiextensionsv1.ConditionFalse {
				return false, "its names are not accepted: " + c.Message
			}
		case apiextensionsv1.Established:
			established = c.Status == apiextensionsv1.ConditionTrue
		case apiextensionsv1.Terminating:
			if c.Status == apiextensionsv1.ConditionTrue {
				return false, "it is being deleted"
			}
		default:
		}
	}
	if !accepted || !established {
		return false, "it is not served yet"
	}
	return true, ""
}

func replicas(n *int32) int32 {
	if n == nil {
		return 1
	}
	return *n
}
