// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// binding returns an error if the credentials of a shoot do not exist or are not for its provider (API-RRM-3, API-SVAL-17).
func binding(ctx context.Context, v world.View, s, old *gardencorev1beta1.Shoot) error {
	if name := s.Spec.SecretBindingName; changed(name, old.Spec.SecretBindingName) {
		binding, err := v.SecretBinding(ctx, s.Namespace, *name)
		if err != nil {
			return world.Missing(err, "spec.secretBindingName", "SecretBinding", s.Namespace+"/"+*name)
		}
		if binding.Provider != nil {
			return fits("spec.secretBindingName: SecretBinding", binding.Namespace+"/"+binding.Name, binding.Provider.Type, s)
		}
	}
	if name := s.Spec.CredentialsBindingName; changed(name, old.Spec.CredentialsBindingName) {
		binding, err := world.Get[gardensecurityv1alpha1.CredentialsBinding](ctx, v, world.Place{
			Group: gardensecurityv1alpha1.GroupName, Resource: "credentialsbindings", Namespace: s.Namespace, Name: *name,
		})
		if err != nil {
			return world.Missing(err, "spec.credentialsBindingName", "CredentialsBinding", s.Namespace+"/"+*name)
		}
		return fits("spec.credentialsBindingName: CredentialsBinding", binding.Namespace+"/"+binding.Name, binding.Provider.Type, s)
	}
	return nil
}

func changed(now, before *string) bool { return now != nil && (before == nil || *before != *now) }

// fits returns an error if credentials are not for the provider of a shoot.
func fits(what, name, provider string, s *gardencorev1beta1.Shoot) error {
	if serves(provider, s) {
		return nil
	}
	return fmt.Errorf("%s %q is for provider %q, the shoot is for %q", what, name, provider, s.Spec.Provider.Type)
}

// serves reports whether the provider of a shoot is among those of a binding, which may name several, separated by commas.
func serves(providers string, s *gardencorev1beta1.Shoot) bool {
	return slices.Contains(strings.Split(providers, ","), s.Spec.Provider.Type)
}
