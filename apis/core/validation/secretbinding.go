// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// ValidateSecretBinding checks a new SecretBinding (API-VALSB-1).
func ValidateSecretBinding(b *gardencorev1beta1.SecretBinding) field.ErrorList {
	errs := metadata(b, true, apivalidation.NameIsDNSSubdomain)
	if b.Provider == nil {
		errs = append(errs, field.Required(field.NewPath("provider"), "must say which provider the credentials are for"))
	}
	return append(errs, secretBinding(b)...)
}

// ValidateSecretBindingUpdate checks an updated SecretBinding (API-VALSB-1).
func ValidateSecretBindingUpdate(b, old *gardencorev1beta1.SecretBinding) field.ErrorList {
	errs := metadataUpdate(b, old)
	errs = append(errs, immutable(b.SecretRef, old.SecretRef, field.NewPath("secretRef"))...)
	errs = append(errs, immutable(b.Quotas, old.Quotas, field.NewPath("quotas"))...)
	errs = append(errs, immutableOnceSet(b.Provider, old.Provider, field.NewPath("provider"))...)
	return append(errs, secretBinding(b)...)
}

func secretBinding(b *gardencorev1beta1.SecretBinding) field.ErrorList {
	ref := field.NewPath("secretRef")
	errs := required(b.SecretRef.Name, ref.Child("name"), "the Secret with the credentials")
	errs = append(errs, required(b.SecretRef.Namespace, ref.Child("namespace"), "the namespace of the Secret")...)
	for i, q := range b.Quotas {
		errs = append(errs, quotaReference(q, field.NewPath("quotas").Index(i))...)
	}
	if b.Provider != nil {
		errs = append(errs, required(b.Provider.Type, field.NewPath("provider", "type"), "a provider type")...)
	}
	return errs
}
