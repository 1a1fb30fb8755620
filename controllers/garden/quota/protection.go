// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/inuse"
)

// Protection protects Quotas from being deleted under a binding.
func Protection() inuse.Protection {
	return inuse.Protection{
		Name:       "quota",
		New:        func() client.Object { return &gardencorev1beta1.Quota{} },
		Finalizer:  gardencorev1beta1.FinalizerGardener,
		References: references,
		Releases: []inuse.Release{
			{Object: &gardencorev1beta1.SecretBinding{}, Of: quotas},
			{Object: &gardensecurityv1alpha1.CredentialsBinding{}, Of: quotas},
		},
	}
}

func references(ctx context.Context, reader client.Reader, quota client.Object) ([]string, error) {
	secrets, credentials := &gardencorev1beta1.SecretBindingList{}, &gardensecurityv1alpha1.CredentialsBindingList{}
	for _, list := range []client.ObjectList{secrets, credentials} {
		if err := reader.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list bindings: %w", err)
		}
	}
	return Users(client.ObjectKeyFromObject(quota), secrets.Items, credentials.Items), nil
}

// Users names the bindings that name the quota.
func Users(
	quota types.NamespacedName, secrets []gardencorev1beta1.SecretBinding, credentials []gardensecurityv1alpha1.CredentialsBinding,
) []string {
	var users []string
	for i := range secrets {
		if slices.Contains(quotas(&secrets[i]), quota) {
			users = append(users, inuse.Name("SecretBinding", &secrets[i]))
		}
	}
	for i := range credentials {
		if slices.Contains(quotas(&credentials[i]), quota) {
			users = append(users, inuse.Name("CredentialsBinding", &credentials[i]))
		}
	}
	return users
}

func quotas(object client.Object) []types.NamespacedName {
	var references []corev1.ObjectReference
	switch binding := object.(type) {
	case *gardencorev1beta1.SecretBinding:
		references = binding.Quotas
	case *gardensecurityv1alpha1.CredentialsBinding:
		references = binding.Quotas
	}
	keys := make([]types.NamespacedName, 0, len(references))
	for _, ref := range references {
		keys = append(keys, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	}
	return keys
}
