// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"fmt"
	"slices"
	"strings"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// binding tells whether the credentials of a shoot exist and are for its provider (API-RRM-3, API-SVAL-17).
func binding(ctx context.Context, v world.View, s, old *gardencorev1beta1.Shoot) error {
	name := s.Spec.SecretBindingName
	if name == nil || old.Spec.SecretBindingName != nil && *old.Spec.SecretBindingName == *name {
		return nil
	}
	binding, err := v.SecretBinding(ctx, s.Namespace, *name)
	if err != nil {
		return world.Missing(err, "spec.secretBindingName", "SecretBinding", s.Namespace+"/"+*name)
	}
	return fits(binding, s.Spec.Provider.Type)
}

// fits tells whether credentials are for a provider. A binding may name several, separated by commas.
func fits(binding *gardencorev1beta1.SecretBinding, provider string) error {
	if binding.Provider == nil || slices.Contains(strings.Split(binding.Provider.Type, ","), provider) {
		return nil
	}
	return fmt.Errorf("spec.secretBindingName: SecretBinding %q is for provider %q, the shoot is for %q",
		binding.Namespace+"/"+binding.Name, binding.Provider.Type, provider)
}
