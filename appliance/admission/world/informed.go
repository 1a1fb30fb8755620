// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// anyVersion is the resource version of a read that accepts any state.
const anyVersion = "0"

// informed reads from the informers of the API server: Namespaces, which each request in one needs, and Secrets, in which
// tokens are looked up. It reads everything else from another source.
type informed struct {
	Source

	namespaces, secrets cache.InformerSynced
	namespaceLister     corev1listers.NamespaceLister
	secretLister        corev1listers.SecretLister
}

func newInformed(from informers.SharedInformerFactory, elsewhere Source) *informed {
	namespaces, secrets := from.Core().V1().Namespaces(), from.Core().V1().Secrets()
	return &informed{
		Source:     elsewhere,
		namespaces: namespaces.Informer().HasSynced, namespaceLister: namespaces.Lister(),
		secrets: secrets.Informer().HasSynced, secretLister: secrets.Lister(),
	}
}

// Get implements Source.
func (i *informed) Get(ctx context.Context, at Place, version string) (runtime.Object, error) {
	switch {
	case version != anyVersion || at.Group != "":
	case at.Resource == "namespaces" && i.namespaces():
		return object(i.namespaceLister.Get(at.Name))
	case at.Resource == "secrets" && i.secrets():
		return object(i.secretLister.Secrets(at.Namespace).Get(at.Name))
	}
	return i.Source.Get(ctx, at, version)
}

// object converts a result to its interface, and returns nil if there is an error.
func object[T runtime.Object](found T, err error) (runtime.Object, error) {
	if err != nil {
		return nil, err
	}
	return found, nil
}

// List implements Source.
func (i *informed) List(ctx context.Context, at Place, o metav1.ListOptions) (runtime.Object, error) {
	if o.ResourceVersion != anyVersion || at.Group != "" || at.Resource != "secrets" || o.FieldSelector != "" || !i.secrets() {
		return i.Source.List(ctx, at, o)
	}
	selector, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, fmt.Errorf("parse label selector: %w", err)
	}
	found, err := i.secretLister.Secrets(at.Namespace).List(selector)
	if err != nil {
		return nil, err
	}
	list := &corev1.SecretList{Items: make([]corev1.Secret, 0, len(found))}
	for _, secret := range found {
		list.Items = append(list.Items, *secret)
	}
	return list, nil
}

// Metadata implements Source.
func (i *informed) Metadata(ctx context.Context, of Target, version string) (*metav1.PartialObjectMetadata, error) {
	if version != anyVersion || of.Group != "" || of.Resource != "secrets" || of.Subresource != "" || !i.secrets() {
		return i.Source.Metadata(ctx, of, version)
	}
	secret, err := i.secretLister.Secrets(of.Namespace).Get(of.Name)
	if err != nil {
		return nil, err
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: secret.ObjectMeta}, nil
}
