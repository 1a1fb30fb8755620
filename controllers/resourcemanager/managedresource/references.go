// SPDX-License-Identifier: Apache-2.0

package managedresource

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
)

// reference is an object of a ManagedResource, as its status lists it.
type reference = gardenresourcesv1alpha1.ObjectReference

func referenceOf(object *unstructured.Unstructured) reference {
	return reference{
		ObjectReference: corev1.ObjectReference{
			APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(),
		},
		Labels: object.GetLabels(), Annotations: object.GetAnnotations(),
	}
}

func referencesOf(objects []*unstructured.Unstructured) []reference {
	references := make([]reference, 0, len(objects))
	for _, object := range objects {
		references = append(references, referenceOf(object))
	}
	return sortReferences(references)
}

func sortReferences(references []reference) []reference {
	slices.SortFunc(references, func(a, b reference) int {
		return cmp.Or(
			cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name),
		)
	})
	return references
}

// groupVersionKind is the kind of a reference. A version that cannot be parsed leaves the group empty.
func groupVersionKind(r reference) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// describe names an object in messages.
func describe(r reference) string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %q", r.Kind, r.Name)
	}
	return fmt.Sprintf("%s %q", r.Kind, r.Namespace+"/"+r.Name)
}

// equivalences are sets of kinds that stand for the same objects, because a kind has moved from one API group to another.
type equivalences [][]metav1.GroupKind

// equivalencesOf are those of every cluster and those of a ManagedResource.
func equivalencesOf(of [][]metav1.GroupKind) equivalences {
	var sets equivalences
	for kind, groups := range map[string][2]string{
		"Deployment": {"extensions", "apps"}, "DaemonSet": {"extensions", "apps"}, "ReplicaSet": {"extensions", "apps"}, "StatefulSet": {"extensions", "apps"},
		"Ingress": {"extensions", "networking.k8s.io"}, "NetworkPolicy": {"extensions", "networking.k8s.io"},
	} {
		sets = append(sets, []metav1.GroupKind{{Group: groups[0], Kind: kind}, {Group: groups[1], Kind: kind}})
	}
	return append(sets, of...)
}

// same reports whether two references are those of one object (GRM-DEL-1).
func (e equivalences) same(a, b reference) bool {
	if a.Namespace != b.Namespace || a.Name != b.Name {
		return false
	}
	left, right := metav1.GroupKind(groupVersionKind(a).GroupKind()), metav1.GroupKind(groupVersionKind(b).GroupKind())
	return left == right || slices.ContainsFunc(e, func(set []metav1.GroupKind) bool {
		return slices.Contains(set, left) && slices.Contains(set, right)
	})
}

// without returns the references of all that are not in some.
func (e equivalences) without(all, some []reference) []reference {
	return slices.DeleteFunc(slices.Clone(all), func(r reference) bool {
		return slices.ContainsFunc(some, func(o reference) bool { return e.same(r, o) })
	})
}

// sameObjects reports whether two sorted lists name the same objects.
func sameObjects(a, b []reference) bool {
	return slices.EqualFunc(a, b, func(x, y reference) bool { return x.ObjectReference == y.ObjectReference })
}

// truthy reports whether the value of an annotation switches something on.
func truthy(value string) bool {
	on, err := strconv.ParseBool(value)
	return err == nil && on
}
