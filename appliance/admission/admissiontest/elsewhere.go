// SPDX-License-Identifier: Apache-2.0

package admissiontest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// elsewhere has the objects of groups other than the garden's.
type elsewhere struct {
	kinds *runtime.Scheme
	// objects are the names of existing objects; those in kept can be read.
	objects []string
	kept    map[world.Place]kind.Object
	err     error
}

func newElsewhere(tb testing.TB) *elsewhere {
	tb.Helper()
	e := &elsewhere{kinds: runtime.NewScheme(), kept: map[world.Place]kind.Object{}}
	if err := kubernetesscheme.AddToScheme(e.kinds); err != nil {
		tb.Fatal(err)
	}
	return e
}

// Get implements world.Source.
func (e *elsewhere) Get(_ context.Context, at world.Place, _ string) (runtime.Object, error) {
	if e.err != nil {
		return nil, e.err
	}
	if found, ok := e.kept[at]; ok {
		return found, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: at.Group, Resource: at.Resource}, at.Name)
}

// List implements world.Source, for the kinds that plugins list.
func (e *elsewhere) List(_ context.Context, at world.Place, o metav1.ListOptions) (runtime.Object, error) {
	lists := map[string]runtime.Object{
		"secrets": &corev1.SecretList{}, "configmaps": &corev1.ConfigMapList{}, "namespaces": &corev1.NamespaceList{},
		"leases": &coordinationv1.LeaseList{}, "certificatesigningrequests": &certificatesv1.CertificateSigningRequestList{},
	}
	list, known := lists[at.Resource]
	if e.err != nil || !known {
		return nil, cmp.Or(e.err, fmt.Errorf("%s cannot be listed in tests", at.Resource))
	}
	selector, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, err
	}
	var found []runtime.Object
	for place, obj := range e.kept {
		if place.Resource == at.Resource && (at.Namespace == "" || at.Namespace == place.Namespace) &&
			selector.Matches(labels.Set(obj.GetLabels())) {
			found = append(found, obj)
		}
	}
	slices.SortFunc(found, func(a, b runtime.Object) int { return cmp.Compare(name(a), name(b)) })
	return list, meta.SetList(list, found)
}

func name(obj runtime.Object) string {
	if o, ok := obj.(kind.Object); ok {
		return o.GetNamespace() + "/" + o.GetName()
	}
	return ""
}

// Names implements world.Source.
func (e *elsewhere) Names(ctx context.Context, at world.Place, o metav1.ListOptions) ([]string, error) {
	list, err := e.List(ctx, at, o)
	if err != nil {
		return nil, err
	}
	var names []string
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		names = append(names, name(obj))
		return nil
	})
	return names, err
}

// Metadata implements world.Source.
func (e *elsewhere) Metadata(_ context.Context, of world.Target, _ string) (*metav1.PartialObjectMetadata, error) {
	if e.err != nil {
		return nil, e.err
	}
	place := world.Place{Group: of.Group, Resource: of.Resource, Namespace: of.Namespace, Name: of.Name}
	if kept, ok := e.kept[place]; ok {
		return meta.AsPartialObjectMetadata(kept), nil
	}
	version := schema.GroupVersion{Group: of.Group, Version: of.Version}.String()
	wanted := fmt.Sprintf("%s %s %s/%s", version, of.Resource, of.Namespace, of.Name)
	if slices.Contains(e.objects, wanted) {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name}}, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: of.Group, Resource: of.Resource}, of.Name)
}
