// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func metadata(obj metav1.Object, namespaced bool, name apivalidation.ValidateNameFunc) field.ErrorList {
	return apivalidation.ValidateObjectMetaAccessor(obj, namespaced, name, field.NewPath("metadata"))
}

func metadataUpdate(obj, old metav1.Object) field.ErrorList {
	return apivalidation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata"))
}

// required rejects an empty value.
func required(value string, path *field.Path, what string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "must name "+what)}
	}
	return nil
}

// oneOf rejects a value that is not allowed.
func oneOf[S ~string](value S, path *field.Path, allowed ...S) field.ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}

// immutable rejects a change of a field.
func immutable(value, old any, path *field.Path) field.ErrorList {
	return apivalidation.ValidateImmutableField(value, old, path)
}

// immutableOnceSet rejects a change of a field that had a value.
func immutableOnceSet[T any](value, old *T, path *field.Path) field.ErrorList {
	if old == nil {
		return nil
	}
	return immutable(value, old, path)
}

// frozen forbids spec changes of objects that are being deleted.
func frozen(obj metav1.Object, spec, old any) field.ErrorList {
	if obj.GetDeletionTimestamp() == nil || apiequality.Semantic.DeepEqual(spec, old) {
		return nil
	}
	message := "must not change while the object is being deleted"
	if paths := differences(spec, old); len(paths) > 0 {
		message += ", but these fields differ: " + strings.Join(paths, ", ")
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), message)}
}

// label checks a name that becomes part of host names: it must be a DNS label.
func label(value string, path *field.Path) field.ErrorList {
	messages := validation.IsDNS1123Label(value)
	errs := make(field.ErrorList, 0, len(messages))
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// labels checks labels in the order of their names, so that the errors of an object are always in the same order.
func labels(all map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(all)) {
		errs = append(errs, metav1validation.ValidateLabels(map[string]string{name: all[name]}, path)...)
	}
	return errs
}

// duplicates rejects every value that occurs more than once.
func duplicates(values []string, path func(i int) *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[string]bool, len(values))
	for i, v := range values {
		if seen[v] {
			errs = append(errs, field.Duplicate(path(i), v))
		}
		seen[v] = true
	}
	return errs
}

// noDoubleHyphen rejects names with the separator of technical IDs (API-NAME-2, API-NAME-3).
func noDoubleHyphen(name string, path *field.Path) field.ErrorList {
	if strings.Contains(name, "--") {
		return field.ErrorList{field.Invalid(path, name, "must not contain two hyphens in a row")}
	}
	return nil
}

// reference checks a reference to an object by name.
func reference(ref *corev1.ObjectReference, path *field.Path, what string) field.ErrorList {
	if ref == nil {
		return field.ErrorList{field.Required(path, "must name "+what)}
	}
	return required(ref.Name, path.Child("name"), what)
}

// tolerations checks that keys are given and that no pair of key and value occurs twice. A key without a value covers every
// value, so that the key cannot occur after it; what it covers may stand before it (API-VALSHOOT-18).
func tolerations(all []gardencorev1beta1.Toleration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, t := range all {
		errs = append(errs, required(t.Key, path.Index(i).Child("key"), "the taint that is tolerated")...)
		pair := t.Key
		if t.Value != nil {
			pair += "=" + *t.Value
		}
		if seen[pair] || seen[t.Key] {
			errs = append(errs, field.Duplicate(path.Index(i), pair))
		}
		seen[pair] = true
	}
	return errs
}

func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
