// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
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
		errs = append(errs, field.Invalid(provider, b.Provider.Type, "must be one type; make a binding for each"))
	}
	errs = append(errs, credentials(b.CredentialsRef, field.NewPath("credentialsRef"))...)
	for i, q := range b.Quotas {
		path := field.NewPath("quotas").Index(i)
		errs = append(errs, check.Required(q.Name, path.Child("name"), "a Quota")...)
		errs = append(errs, check.Required(q.Namespace, path.Child("namespace"), "the namespace of the Quota")...)
	}
	return errs
}

// credentials checks that a reference leads to a kind that holds credentials.
func credentials(ref corev1.ObjectReference, path *field.Path) field.ErrorList {
	errs := check.Required(ref.Name, path.Child("name"), "the object with the credentials")
	errs = append(errs, check.Required(ref.Namespace, path.Child("namespace"), "the namespace of the credentials")...)
	for _, message := range apivalidation.NameIsDNSSubdomain(ref.Name, false) {
		if ref.Name != "" {
			errs = append(errs, field.Invalid(path.Child("name"), ref.Name, message))
		}
	}
	const secret, internalSecret, workloadIdentity = "Secret", "InternalSecret", "WorkloadIdentity"
	allowed := map[string]string{
		secret:           corev1.SchemeGroupVersion.String(),
		internalSecret:   gardencorev1beta1.GroupVersion.String(),
		workloadIdentity: gardensecurityv1alpha1.GroupVersion.String(),
	}
	version, found := allowed[ref.Kind]
	if !found {
		return append(errs, field.NotSupported(path.Child("kind"), ref.Kind, []string{secret, internalSecret, workloadIdentity}))
	}
	return append(errs, check.OneOf(ref.APIVersion, path.Child("apiVersion"), version)...)
}
