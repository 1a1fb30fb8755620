// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// profile returns an error if a shoot begins to use a profile that is being deleted.
func profile(ctx context.Context, v world.View, s, old *gardencorev1beta1.Shoot) error {
	ref := query.ProfileReference(&s.Spec)
	if ref == nil || check.Equal(ref, query.ProfileReference(&old.Spec)) {
		return nil
	}
	at := garden("cloudprofiles", "", ref.Name)
	if ref.Kind == gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile {
		at = garden("namespacedcloudprofiles", s.Namespace, ref.Name)
	}
	found, err := v.Metadata(ctx, at)
	switch {
	case apierrors.IsNotFound(err):
		return nil // ShootValidator says so.
	case err != nil:
		return err
	default:
		return stays(found, "spec.cloudProfile", ref.Kind)
	}
}

// binding returns an error if the credentials of a shoot do not exist or are not for its provider (API-RRM-3, API-SVAL-17).
func binding(ctx context.Context, v world.View, s, old *gardencorev1beta1.Shoot) error {
	if name := s.Spec.SecretBindingName; changed(name, old.Spec.SecretBindingName) {
		binding, err := v.SecretBinding(ctx, s.Namespace, *name)
		if err != nil {
			return world.Missing(err, "spec.secretBindingName", "SecretBinding", s.Namespace+"/"+*name)
		}
		if err := stays(binding, "spec.secretBindingName", "SecretBinding"); err != nil {
			return err
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
