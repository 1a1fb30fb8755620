// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strconv"
	"strings"
	"unicode"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

const (
	// maxSubjectLength is the maximum length of the subject of a token.
	maxSubjectLength = 255

	// MinTokenSeconds is the shortest lifetime of a token that can be requested.
	MinTokenSeconds = int64(600)
	// MaxTokenSeconds is the longest lifetime of a token that can be requested.
	MaxTokenSeconds = int64(1)<<32 - 1
)

// ValidateWorkloadIdentity checks a new WorkloadIdentity (API-VALWI-1).
func ValidateWorkloadIdentity(w *gardensecurityv1alpha1.WorkloadIdentity) field.ErrorList {
	errs := check.Metadata(w, true, apivalidation.NameIsDNSSubdomain)
	errs = append(errs, subject(w)...)
	return append(errs, workloadIdentitySpec(&w.Spec)...)
}

// ValidateWorkloadIdentityUpdate checks an updated WorkloadIdentity (API-VALWI-1).
func ValidateWorkloadIdentityUpdate(w, old *gardensecurityv1alpha1.WorkloadIdentity) field.ErrorList {
	errs := check.MetadataUpdate(w, old)
	errs = append(errs, check.Immutable(w.Spec.TargetSystem.Type, old.Spec.TargetSystem.Type, field.NewPath("spec", "targetSystem", "type"))...)
	errs = append(errs, check.Immutable(w.Status.Sub, old.Status.Sub, field.NewPath("status", "sub"))...)
	return append(errs, workloadIdentitySpec(&w.Spec)...)
}

// Subject returns the subject of the tokens of a WorkloadIdentity (API-VALWI-1).
func Subject(w *gardensecurityv1alpha1.WorkloadIdentity) string {
	return gardensecurityv1alpha1.SubjectPrefix + w.Namespace + ":" + w.Name + ":" + string(w.UID)
}

func subject(w *gardensecurityv1alpha1.WorkloadIdentity) field.ErrorList {
	path := field.NewPath("status", "sub")
	var errs field.ErrorList
	if w.Status.Sub != Subject(w) {
		errs = append(errs, field.Invalid(path, w.Status.Sub, "must be "+strconv.Quote(Subject(w))))
	}
	if len(w.Status.Sub) > maxSubjectLength {
		errs = append(errs, field.TooLong(path, w.Status.Sub, maxSubjectLength))
	}
	for _, r := range w.Status.Sub {
		if r > unicode.MaxASCII {
			return append(errs, field.Invalid(path, w.Status.Sub, "must consist of ASCII characters"))
		}
	}
	return errs
}

func workloadIdentitySpec(s *gardensecurityv1alpha1.WorkloadIdentitySpec) field.ErrorList {
	audiences := field.NewPath("spec", "audiences")
	var errs field.ErrorList
	if len(s.Audiences) == 0 {
		errs = append(errs, field.Required(audiences, "must list the audiences of the tokens"))
	}
	for i, a := range s.Audiences {
		errs = append(errs, check.Required(a, audiences.Index(i), "an audience of the tokens")...)
	}
	errs = append(errs, check.Unique(s.Audiences, audiences)...)
	target := field.NewPath("spec", "targetSystem", "type")
	if strings.Contains(s.TargetSystem.Type, ",") {
		errs = append(errs, field.Invalid(target, s.TargetSystem.Type, "must be a single type; create an identity for each type"))
	}
	return append(errs, check.Required(s.TargetSystem.Type, target, "the system that the tokens give access to")...)
}

// ValidateTokenRequest checks a request for a token (API-TOKEN-1).
func ValidateTokenRequest(r *gardensecurityv1alpha1.TokenRequest) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	if s := r.Spec.ExpirationSeconds; s != nil && (*s < MinTokenSeconds || *s > MaxTokenSeconds) {
		errs = append(errs, field.Invalid(path.Child("expirationSeconds"), *s, "must be from "+
			strconv.FormatInt(MinTokenSeconds, 10)+" to "+strconv.FormatInt(MaxTokenSeconds, 10)+" seconds"))
	}
	if o := r.Spec.ContextObject; o != nil {
		errs = append(errs, contextObject(o, path.Child("contextObject"))...)
	}
	return errs
}

func contextObject(o *gardensecurityv1alpha1.ContextObject, path *field.Path) field.ErrorList {
	errs := check.Required(o.Kind, path.Child("kind"), "the kind of the object that the token is used for")
	errs = append(errs, check.Required(o.APIVersion, path.Child("apiVersion"), "the version of that kind")...)
	errs = append(errs, check.Required(o.Name, path.Child("name"), "the object that the token is used for")...)
	errs = append(errs, check.NotEmpty(o.Namespace, path.Child("namespace"))...)
	return append(errs, check.Required(string(o.UID), path.Child("uid"), "the UID of that object")...)
}
