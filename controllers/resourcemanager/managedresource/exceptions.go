// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// exception is a case in which server-side apply of the manifest is not enough. It looks at the live object before, and either
// changes what is applied or leaves the object as it is.
type exception struct {
	// reason says why there is the exception.
	reason string
	// covers reports whether the exception is for an object.
	covers func(wanted *unstructured.Unstructured, scaled bool) bool
	// adapt changes what is applied over a live object, and reports whether to apply it at all.
	adapt func(wanted, live *unstructured.Unstructured) bool
}

// exceptions are all of them. What is an exception only after the server has refused an object, or concerns what stands beside the
// manifest, is in replace and strip.
func exceptions() []exception {
	return []exception{
		{
			reason: "the manifest asks that the object is created and then left to others (GRM-APPLY-10)",
			covers: func(wanted *unstructured.Unstructured, _ bool) bool {
				return truthy(wanted.GetAnnotations()[gardenresourcesv1alpha1.AnnotationIgnore])
			},
			adapt: func(_, _ *unstructured.Unstructured) bool { return false },
		},
		{
			reason: "an autoscaler or a person owns the number of replicas, while the manifest has one for the creation (GRM-APPLY-12)",
			covers: func(wanted *unstructured.Unstructured, scaled bool) bool {
				return scaled || truthy(wanted.GetAnnotations()[gardenresourcesv1alpha1.AnnotationPreserveReplicas])
			},
			adapt: func(wanted, live *unstructured.Unstructured) bool {
				if !deploy.ReleasesReplicas(wanted.GroupVersionKind().GroupKind()) {
					return keep(wanted, live, "spec", "replicas")
				}
				unstructured.RemoveNestedField(wanted.Object, "spec", "replicas")
				return true
			},
		},
		{
			reason: "an autoscaler owns requests and limits: fields that are no longer applied would be removed (GRM-APPLY-13)",
			covers: func(wanted *unstructured.Unstructured, _ bool) bool {
				return truthy(wanted.GetAnnotations()[gardenresourcesv1alpha1.AnnotationPreserveResources])
			},
			adapt: keepResources,
		},
		{
			reason: "the claim templates of a StatefulSet never change (GRM-MERGE-4)",
			covers: ofKind("StatefulSet"),
			adapt: func(wanted, live *unstructured.Unstructured) bool {
				return keep(wanted, live, "spec", "volumeClaimTemplates")
			},
		},
		{
			reason: "others add pull secrets to a ServiceAccount, and a list of them is applied as a whole (GRM-MERGE-4)",
			covers: ofKind("ServiceAccount"),
			adapt: func(wanted, live *unstructured.Unstructured) bool {
				_, found, _ := unstructured.NestedFieldNoCopy(live.Object, "imagePullSecrets")
				return !found || keep(wanted, live, "imagePullSecrets")
			},
		},
		{
			reason: "the selector of a Job is set by the server and never changes (GRM-MERGE-4)",
			covers: ofKind("Job"),
			adapt:  func(wanted, live *unstructured.Unstructured) bool { return keep(wanted, live, "spec", "selector") },
		},
		{
			reason: "a port of a Service that changes its number is another port to the server, and would get another node port (GRM-MERGE-5)",
			covers: ofKind("Service"),
			adapt:  keepNodePorts,
		},
	}
}

func ofKind(kind string) func(*unstructured.Unstructured, bool) bool {
	return func(wanted *unstructured.Unstructured, _ bool) bool { return wanted.GetKind() == kind }
}

// keep takes a field over from the live object.
func keep(wanted, live *unstructured.Unstructured, fields ...string) bool {
	value, found, err := unstructured.NestedFieldCopy(live.Object, fields...)
	if err != nil || !found {
		unstructured.RemoveNestedField(wanted.Object, fields...)
		return true
	}
	return unstructured.SetNestedField(wanted.Object, value, fields...) == nil
}

// keepNodePorts takes the node ports of ports with the same name over from the live object, where the manifest leaves them open and the
// Service still has some.
func keepNodePorts(wanted, live *unstructured.Unstructured) bool {
	kind, _, _ := unstructured.NestedString(wanted.Object, "spec", "type")
	ours, found, err := unstructured.NestedSlice(wanted.Object, "spec", "ports")
	if err != nil || !found || kind != string(corev1.ServiceTypeNodePort) && kind != string(corev1.ServiceTypeLoadBalancer) {
		return true
	}
	theirs, _, _ := unstructured.NestedSlice(live.Object, "spec", "ports")
	for _, each := range ours {
		port, ok := each.(map[string]any)
		if !ok || port["nodePort"] != nil || port["name"] == nil {
			continue
		}
		for _, other := range theirs {
			if before, ok := other.(map[string]any); ok && before["name"] == port["name"] && before["nodePort"] != nil {
				port["nodePort"] = before["nodePort"]
			}
		}
	}
	return unstructured.SetNestedSlice(wanted.Object, ours, "spec", "ports") == nil
}

// keepResources takes CPU and memory of containers with the same name over from the live object.
func keepResources(wanted, live *unstructured.Unstructured) bool {
	for _, list := range []string{"containers", "initContainers"} {
		for _, pod := range [][]string{{"spec", "template", "spec", list}, {"spec", "jobTemplate", "spec", "template", "spec", list}, {"spec", list}} {
			ours, found, err := unstructured.NestedSlice(wanted.Object, pod...)
			if err != nil || !found {
				continue
			}
			theirs, _, _ := unstructured.NestedSlice(live.Object, pod...)
			for _, container := range ours {
				keepContainer(container, theirs)
			}
			_ = unstructured.SetNestedSlice(wanted.Object, ours, pod...)
		}
	}
	return true
}

func keepContainer(wanted any, live []any) {
	ours, _ := wanted.(map[string]any)
	index := slices.IndexFunc(live, func(c any) bool {
		container, ok := c.(map[string]any)
		return ok && ours != nil && container["name"] == ours["name"]
	})
	if index < 0 {
		return
	}
	theirs, _ := live[index].(map[string]any)
	for _, side := range []string{"requests", "limits"} {
		for _, resource := range []string{"cpu", "memory"} {
			value, found, err := unstructured.NestedFieldCopy(theirs, "resources", side, resource)
			if err != nil || !found {
				unstructured.RemoveNestedField(ours, "resources", side, resource)
				continue
			}
			_ = unstructured.SetNestedField(ours, value, "resources", side, resource)
		}
	}
}
