// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

// Secret are SecretBindings (GCM-SECRETBINDING-1, GCM-SECRETBINDING-2).
func Secret() Kind {
	return Kind{
		Name:      "secretbinding",
		New:       func() client.Object { return &gardencorev1beta1.SecretBinding{} },
		Finalizer: gardencorev1beta1.FinalizerSecretBinding,
		Label:     gardencorev1beta1.LabelReferenceSecretBinding,
		List:      secretBindings,
		Others:    credentialsBindings,
		Of:        ofSecretBinding,
		Field:     func(spec *gardencorev1beta1.ShootSpec) *string { return spec.SecretBindingName },
	}
}

// Credentials are CredentialsBindings (GCM-CREDBINDING-1).
func Credentials() Kind {
	return Kind{
		Name:      "credentialsbinding",
		New:       func() client.Object { return &gardensecurityv1alpha1.CredentialsBinding{} },
		Finalizer: gardencorev1beta1.FinalizerCredentialsBinding,
		Label:     gardencorev1beta1.LabelReferenceCredentialsBinding,
		List:      credentialsBindings,
		Others:    secretBindings,
		Of:        ofCredentialsBinding,
		Field:     func(spec *gardencorev1beta1.ShootSpec) *string { return spec.CredentialsBindingName },
	}
}

func ofSecretBinding(object client.Object) (Binding, bool) {
	b, ok := object.(*gardencorev1beta1.SecretBinding)
	if !ok {
		return Binding{}, false
	}
	out := Binding{
		UID: b.UID, Leaving: b.DeletionTimestamp != nil, Quotas: quotas(b.Quotas),
		Credentials: Reference{
			APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret",
			NamespacedName: types.NamespacedName{Namespace: b.SecretRef.Namespace, Name: b.SecretRef.Name},
		},
	}
	if b.Provider != nil {
		for provider := range strings.SplitSeq(b.Provider.Type, ",") {
			out.Providers = append(out.Providers, strings.TrimSpace(provider))
		}
	}
	return out, true
}

func ofCredentialsBinding(object client.Object) (Binding, bool) {
	b, ok := object.(*gardensecurityv1alpha1.CredentialsBinding)
	if !ok {
		return Binding{}, false
	}
	ref := b.CredentialsRef
	return Binding{
		UID: b.UID, Leaving: b.DeletionTimestamp != nil, Quotas: quotas(b.Quotas), Providers: []string{b.Provider.Type},
		Credentials: Reference{
			APIVersion: ref.APIVersion, Kind: ref.Kind, NamespacedName: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name},
		},
	}, true
}

func quotas(references []corev1.ObjectReference) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, ref := range references {
		keys = append(keys, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	}
	return keys
}

func secretBindings(ctx context.Context, reader client.Reader) ([]Binding, error) {
	list := &gardencorev1beta1.SecretBindingList{}
	if err := reader.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list secret bindings: %w", err)
	}
	all := make([]Binding, 0, len(list.Items))
	for i := range list.Items {
		if b, ok := ofSecretBinding(&list.Items[i]); ok {
			all = append(all, b)
		}
	}
	return all, nil
}

func credentialsBindings(ctx context.Context, reader client.Reader) ([]Binding, error) {
	list := &gardensecurityv1alpha1.CredentialsBindingList{}
	if err := reader.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list credentials bindings: %w", err)
	}
	all := make([]Binding, 0, len(list.Items))
	for i := range list.Items {
		if b, ok := ofCredentialsBinding(&list.Items[i]); ok {
			all = append(all, b)
		}
	}
	return all, nil
}
