// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/fields"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// secretBinding checks that a binding in use keeps the provider of its shoots and that it has at most one Quota for each scope
// (API-RRM-1, 2). That its references exist is checked elsewhere.
func secretBinding(ctx context.Context, v world.View, b, old *gardencorev1beta1.SecretBinding) error {
	var errs []error
	if b.Provider != nil && !equality.Semantic.DeepEqual(b.Provider, old.Provider) {
		errs = append(errs, suitsShoots(ctx, v, users{
			namespace: b.Namespace, provider: b.Provider.Type,
			uses: func(s *gardencorev1beta1.Shoot) bool {
				return s.Spec.SecretBindingName != nil && *s.Spec.SecretBindingName == b.Name
			},
		}))
	}
	if !equality.Semantic.DeepEqual(b.Quotas, old.Quotas) {
		errs = append(errs, scopes(ctx, v, b.Quotas))
	}
	return errors.Join(errs...)
}

func credentialsBinding(ctx context.Context, v world.View, b, old *gardensecurityv1alpha1.CredentialsBinding) error {
	var errs []error
	if b.Provider != old.Provider {
		errs = append(errs, suitsShoots(ctx, v, users{
			namespace: b.Namespace, provider: b.Provider.Type,
			uses: func(s *gardencorev1beta1.Shoot) bool {
				return s.Spec.CredentialsBindingName != nil && *s.Spec.CredentialsBindingName == b.Name
			},
		}), suitsIdentity(ctx, v, b))
	}
	if !equality.Semantic.DeepEqual(b.Quotas, old.Quotas) {
		errs = append(errs, scopes(ctx, v, b.Quotas))
	}
	return errors.Join(errs...)
}

// users are the shoots that use a binding.
type users struct {
	namespace, provider string
	uses                func(*gardencorev1beta1.Shoot) bool
}

// suitsShoots checks that a binding is for the providers of the shoots that use it (API-RRM-2).
func suitsShoots(ctx context.Context, v world.View, u users) error {
	shoots, err := v.Shoots(ctx, u.namespace, fields.Everything())
	if err != nil {
		return fmt.Errorf("list shoots of namespace %q: %w", u.namespace, err)
	}
	for i := range shoots {
		if s := &shoots[i]; u.uses(s) && !serves(u.provider, s) {
			return fmt.Errorf("provider.type: shoot %q uses the binding and is for provider %q, not %q", s.Name, s.Spec.Provider.Type, u.provider)
		}
	}
	return nil
}

// suitsIdentity checks that an identity is for the provider of the binding. That it exists is checked with the other
// references (API-RRM-2).
func suitsIdentity(ctx context.Context, v world.View, b *gardensecurityv1alpha1.CredentialsBinding) error {
	if b.CredentialsRef.Kind != kindWorkloadIdentity {
		return nil
	}
	identity, err := world.Get[gardensecurityv1alpha1.WorkloadIdentity](ctx, v, world.Place{
		Group: gardensecurityv1alpha1.GroupName, Resource: "workloadidentities",
		Namespace: b.CredentialsRef.Namespace, Name: b.CredentialsRef.Name,
	})
	if err != nil {
		return world.Missing(err, "credentialsRef", kindWorkloadIdentity, b.CredentialsRef.Namespace+"/"+b.CredentialsRef.Name)
	}
	if identity.Spec.TargetSystem.Type != b.Provider.Type {
		return fmt.Errorf("credentialsRef: WorkloadIdentity %q is for %q, the binding is for provider %q",
			identity.Namespace+"/"+identity.Name, identity.Spec.TargetSystem.Type, b.Provider.Type)
	}
	return nil
}

// scopes checks that a binding has at most one quota for each scope, which is the project or the credentials (API-RRM-1).
func scopes(ctx context.Context, v world.View, quotas []corev1.ObjectReference) error {
	taken := map[string]string{}
	for i, ref := range quotas {
		quota, err := world.Get[gardencorev1beta1.Quota](ctx, v, world.Place{
			Group: gardencorev1beta1.GroupName, Resource: "quotas", Namespace: ref.Namespace, Name: ref.Name,
		})
		if err != nil {
			return world.Missing(err, fmt.Sprintf("quotas[%d]", i), "Quota", ref.Namespace+"/"+ref.Name)
		}
		scope := "credentials"
		if quota.Spec.Scope.Kind == "Project" {
			scope = "project"
		}
		if other, ok := taken[scope]; ok {
			return fmt.Errorf("quotas[%d]: %q has the same scope (%s) as %q; at most one quota can have it", i, ref.Name, scope, other)
		}
		taken[scope] = ref.Name
	}
	return nil
}
