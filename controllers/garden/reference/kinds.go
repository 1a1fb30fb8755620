// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

const (
	kindSecret           = "Secret"
	kindConfigMap        = "ConfigMap"
	kindWorkloadIdentity = "WorkloadIdentity"
)

// kinds are the kinds that can be protected. References to others are ignored.
func kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind(kindSecret),
		corev1.SchemeGroupVersion.WithKind(kindConfigMap),
		gardensecurityv1alpha1.GroupVersion.WithKind(kindWorkloadIdentity),
	}
}

// Reference names an object.
type Reference struct {
	// Kind is Secret, ConfigMap or WorkloadIdentity.
	Kind, Name string
}

// empty returns an object of the kind of the reference, of which only the metadata is read and written.
func (r Reference) empty() *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	all := kinds()
	if i := slices.IndexFunc(all, func(kind schema.GroupVersionKind) bool { return kind.Kind == r.Kind }); i >= 0 {
		object.SetGroupVersionKind(all[i])
	}
	return object
}

// references collects the references of one object.
type references []Reference

func (r *references) add(kind, name string) {
	known := func(k schema.GroupVersionKind) bool { return k.Kind == kind }
	if name != "" && slices.ContainsFunc(kinds(), known) {
		*r = append(*r, Reference{Kind: kind, Name: name})
	}
}

// sorted returns them sorted, each once.
func (r references) sorted() []Reference {
	slices.SortFunc(r, func(a, b Reference) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return slices.Compact(r)
}
