// SPDX-License-Identifier: Apache-2.0

package stale

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

// inUse reports whether the namespace of a project is used (GCM-STALE-4): it has Shoots, BackupEntries or Plants, or Shoots of
// other projects use credentials or Quotas in it. That these are labelled is not asked: the label follows from the binding, and
// a member of the project could remove it.
func inUse(ctx context.Context, reader client.Reader, namespace string) (bool, error) {
	for _, list := range []client.ObjectList{&gardencorev1beta1.ShootList{}, &gardencorev1beta1.BackupEntryList{}, &gardencorev1beta1.PlantList{}} {
		if err := reader.List(ctx, list, client.InNamespace(namespace), client.Limit(1), client.UnsafeDisableDeepCopy); err != nil {
			return false, fmt.Errorf("list %T of namespace %q: %w", list, namespace, err)
		}
		if meta.LenList(list) > 0 {
			return true, nil
		}
	}
	bindings, err := bindingsTo(ctx, reader, namespace)
	if err != nil {
		return false, err
	}
	for _, b := range bindings {
		shoots := &gardencorev1beta1.ShootList{}
		if err := reader.List(ctx, shoots, client.InNamespace(b.namespace), client.UnsafeDisableDeepCopy); err != nil {
			return false, fmt.Errorf("list shoots of namespace %q: %w", b.namespace, err)
		}
		if slices.ContainsFunc(shoots.Items, func(s gardencorev1beta1.Shoot) bool { return query.BindingOf(&s.Spec) == b.Binding }) {
			return true, nil
		}
	}
	return false, nil
}

// binding is a binding in the namespace of the shoots that use it.
type binding struct {
	query.Binding

	namespace string
}

// bindingsTo returns the bindings of all namespaces that name credentials or quotas in a namespace.
func bindingsTo(ctx context.Context, reader client.Reader, namespace string) ([]binding, error) {
	secrets, credentials := &gardencorev1beta1.SecretBindingList{}, &gardensecurityv1alpha1.CredentialsBindingList{}
	for _, list := range []client.ObjectList{secrets, credentials} {
		if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("list %T: %w", list, err)
		}
	}
	var all []binding
	add := func(object client.Object, kind, of string, quotas []corev1.ObjectReference) {
		here := func(quota corev1.ObjectReference) bool { return quota.Namespace == namespace }
		if of == namespace || slices.ContainsFunc(quotas, here) {
			all = append(all, binding{Binding: query.Binding{Kind: kind, Name: object.GetName()}, namespace: object.GetNamespace()})
		}
	}
	for i := range secrets.Items {
		b := &secrets.Items[i]
		add(b, query.KindSecretBinding, b.SecretRef.Namespace, b.Quotas)
	}
	for i := range credentials.Items {
		b := &credentials.Items[i]
		add(b, query.KindCredentialsBinding, b.CredentialsRef.Namespace, b.Quotas)
	}
	return all, nil
}
