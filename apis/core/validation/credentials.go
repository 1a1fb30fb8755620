// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// credentialKinds are the kinds of objects that hold credentials.
func credentialKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Version: "v1", Kind: "Secret"},
		{Group: "core.gardener.cloud", Version: "v1beta1", Kind: "InternalSecret"},
		{Group: "security.gardener.cloud", Version: "v1alpha1", Kind: "WorkloadIdentity"},
	}
}

// ValidateCredentialsRef checks a reference to credentials: it is complete, its names are valid, and its kind is one that
// holds credentials (API-VALBB-1, API-VALCB-1, API-VALSEED-1).
func ValidateCredentialsRef(ref *corev1.ObjectReference, path *field.Path) field.ErrorList {
	errs := required(ref.APIVersion, path.Child("apiVersion"), "the version of the kind")
	errs = append(errs, required(ref.Kind, path.Child("kind"), "a kind of credentials")...)
	errs = append(errs, subdomain(ref.Name, path.Child("name"), "the credentials")...)
	errs = append(errs, subdomain(ref.Namespace, path.Child("namespace"), "the namespace of the credentials")...)
	allowed := credentialKinds()
	if slices.Contains(allowed, ref.GroupVersionKind()) {
		return errs
	}
	names := make([]string, 0, len(allowed))
	for _, k := range allowed {
		names = append(names, k.String())
	}
	return append(errs, field.NotSupported(path, ref.GroupVersionKind().String(), names))
}

// subdomain checks a name that is required and that must be a DNS subdomain.
func subdomain(value string, path *field.Path, what string) field.ErrorList {
	errs := required(value, path, what)
	for _, message := range validation.IsDNS1123Subdomain(value) {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// quotaReference checks a reference to a Quota, whose namespace may be left out.
func quotaReference(ref corev1.ObjectReference, path *field.Path) field.ErrorList {
	errs := required(ref.Name, path.Child("name"), "a Quota")
	if ref.Name != "" {
		errs = subdomain(ref.Name, path.Child("name"), "a Quota")
	}
	if ref.Namespace == "" {
		return errs
	}
	return append(errs, label(ref.Namespace, path.Child("namespace"))...)
}

// ValidateQuotaReference checks a reference to a Quota, whose namespace may be left out.
func ValidateQuotaReference(ref corev1.ObjectReference, path *field.Path) field.ErrorList {
	return quotaReference(ref, path)
}
