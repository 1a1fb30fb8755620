// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"cmp"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Ready reports whether a live object does what it is for, according to its status: a workload runs with all its replicas in
// their newest form, a load balancer has an address, a definition is served. If not, it gives the reason in words.
// Objects of other kinds are ready once they exist.
func Ready(obj client.Object) (bool, string) {
	reason := unready(typed(obj))
	return reason == "", reason
}

// unready says what an object still lacks, or nothing.
func unready(obj client.Object) string {
	switch o := obj.(type) {
	case *appsv1.Deployment:
		return deploymentUnready(o)
	case *appsv1.StatefulSet:
		want := ptr.Deref(o.Spec.Replicas, 1)
		updated := want
		if o.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType && o.Status.UpdateRevision != o.Status.CurrentRevision {
			updated = o.Status.UpdatedReplicas
		}
		return cmp.Or(unobserved(o, o.Status.ObservedGeneration), fewer(updated, want, "updated"), fewer(o.Status.ReadyReplicas, want, "ready"))
	case *appsv1.DaemonSet:
		want, updated := o.Status.DesiredNumberScheduled, o.Status.UpdatedNumberScheduled
		if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
			updated = want
		}
		return cmp.Or(unobserved(o, o.Status.ObservedGeneration), fewer(updated, want, "updated"), fewer(o.Status.NumberAvailable, want, "available"))
	case *appsv1.ReplicaSet:
		return cmp.Or(unobserved(o, o.Status.ObservedGeneration), fewer(o.Status.ReadyReplicas, ptr.Deref(o.Spec.Replicas, 1), "ready"))
	case *corev1.ReplicationController:
		return cmp.Or(unobserved(o, o.Status.ObservedGeneration), fewer(o.Status.ReadyReplicas, ptr.Deref(o.Spec.Replicas, 1), "ready"))
	case *batchv1.Job:
		return jobUnready(o)
	case *corev1.Service:
		if o.Spec.Type == corev1.ServiceTypeLoadBalancer && len(o.Status.LoadBalancer.Ingress) == 0 {
			return "the load balancer has no address yet"
		}
		return ""
	case *corev1.Pod:
		return podUnready(o)
	case *apiextensionsv1.CustomResourceDefinition:
		return definitionUnready(o)
	default:
		return ""
	}
}

// typed turns an unstructured object of a known kind into its Go type and returns everything else as it is.
func typed(obj client.Object) client.Object {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj
	}
	into, known := map[string]client.Object{
		"Deployment.apps":       &appsv1.Deployment{},
		"StatefulSet.apps":      &appsv1.StatefulSet{},
		"DaemonSet.apps":        &appsv1.DaemonSet{},
		"ReplicaSet.apps":       &appsv1.ReplicaSet{},
		"Job.batch":             &batchv1.Job{},
		"Service":               &corev1.Service{},
		"Pod":                   &corev1.Pod{},
		"ReplicationController": &corev1.ReplicationController{},
		"CustomResourceDefinition.apiextensions.k8s.io": &apiextensionsv1.CustomResourceDefinition{},
	}[u.GroupVersionKind().GroupKind().String()]
	if !known || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into) != nil {
		return obj
	}
	return into
}

// unobserved says that the status of an object is older than its spec.
func unobserved(obj client.Object, observed int64) string {
	if observed < obj.GetGeneration() {
		return "the last change is not observed yet"
	}
	return ""
}

// fewer says that fewer pods than wanted are in a state.
func fewer(have, want int32, state string) string {
	if have < want {
		return fmt.Sprintf("%d of %d pods are %s", have, want, state)
	}
	return ""
}

func deploymentUnready(d *appsv1.Deployment) string {
	want, failed, old := ptr.Deref(d.Spec.Replicas, 1), "", ""
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue {
			failed = "pods cannot be created: " + c.Message
		}
	}
	if d.Status.Replicas > want {
		old = fmt.Sprintf("%d old pods are still there", d.Status.Replicas-want)
	}
	return cmp.Or(
		unobserved(d, d.Status.ObservedGeneration), failed,
		fewer(d.Status.UpdatedReplicas, want, "updated"), fewer(d.Status.AvailableReplicas, want, "available"), old,
	)
}

func jobUnready(j *batchv1.Job) string {
	for _, c := range j.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		if c.Type == batchv1.JobComplete {
			return ""
		}
		if c.Type == batchv1.JobFailed {
			return "the job failed: " + c.Message
		}
	}
	return "the job is not complete"
}

func podUnready(p *corev1.Pod) string {
	if p.Status.Phase == corev1.PodSucceeded {
		return ""
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return ""
		}
	}
	if trouble, found := podTrouble(p); found {
		return trouble.text
	}
	return "the pod is not ready"
}

func definitionUnready(d *apiextensionsv1.CustomResourceDefinition) string {
	accepted, established := false, false
	for _, c := range d.Status.Conditions {
		switch c.Type {
		case apiextensionsv1.NamesAccepted:
			accepted = c.Status == apiextensionsv1.ConditionTrue
			if c.Status == apiextensionsv1.ConditionFalse {
				return "its names are not accepted: " + c.Message
			}
		case apiextensionsv1.Established:
			established = c.Status == apiextensionsv1.ConditionTrue
		case apiextensionsv1.Terminating:
			if c.Status == apiextensionsv1.ConditionTrue {
				return "it is being deleted"
			}
		default:
		}
	}
	if !accepted || !established {
		return "it is not served yet"
	}
	return ""
}
