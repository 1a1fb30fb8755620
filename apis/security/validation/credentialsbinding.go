// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	corevalidation "github.com/terrarium-garden/terrarium/apis/core/validation"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

// ValidateCredentialsBinding checks a new CredentialsBinding (API-VALCB-1).
func ValidateCredentialsBinding(b *gardensecurityv1alpha1.CredentialsBinding) field.ErrorList {
	errs := check.Metadata(b, true, apivalidation.NameIsDNSSubdomain)
	return append(errs, credentialsBinding(b)...)
}

// ValidateCredentialsBindingUpdate checks an updated CredentialsBinding (API-VALCB-1).
func ValidateCredentialsBindingUpdate(b, old *gardensecurityv1alpha1.CredentialsBinding) field.ErrorList {
	errs := check.MetadataUpdate(b, old)
	errs = append(errs, check.Immutable(b.Provider, old.Provider, field.NewPath("provider"))...)
	errs = append(errs, check.Immutable(b.CredentialsRef, old.CredentialsRef, field.NewPath("credentialsRef"))...)
	errs = append(errs, check.Immutable(b.Quotas, old.Quotas, field.NewPath("quotas"))...)
	return append(errs, credentialsBinding(b)...)
}

func credentialsBinding(b *gardensecurityv1alpha1.CredentialsBinding) field.ErrorList {
	provider := field.NewPath("provider", "type")
	errs := check.Required(b.Provider.Type, provider, "the provider that the credentials are for")
	if strings.Contains(b.Provider.Type, ",") {
		errs = append(errs, field.Invalid(provider, b.Provider.Type, "must be a single type; create a binding for each type"))
	}
	errs = append(errs, corevalidation.ValidateCredentialsRef(&b.CredentialsRef, field.NewPath("credentialsRef"))...)
	for i, q := range b.Quotas {
		errs = append(errs, corevalidation.ValidateQuotaReference(q, field.NewPath("quotas").Index(i))...)
	}
	return errs
}
