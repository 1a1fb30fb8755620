// SPDX-License-Identifier: Apache-2.0

// Package check has the checks on single fields that kinds of several groups share. Each returns the errors of the field at
// path, and none when the field is valid.
package check

import (
	"net/netip"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Metadata checks the metadata of a new object.
func Metadata(obj metav1.Object, namespaced bool, name apivalidation.ValidateNameFunc) field.ErrorList {
	return apivalidation.ValidateObjectMetaAccessor(obj, namespaced, name, field.NewPath("metadata"))
}

// MetadataUpdate checks the metadata of an updated object against that of the old object.
func MetadataUpdate(obj, old metav1.Object) field.ErrorList {
	return apivalidation.ValidateObjectMetaAccessorUpdate(obj, old, field.NewPath("metadata"))
}

// Required rejects an empty value; what says what the value must name.
func Required(value string, path *field.Path, what string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "must name "+what)}
	}
	return nil
}

// NotEmpty rejects an empty value of an optional field.
func NotEmpty(value *string, path *field.Path) field.ErrorList {
	if value != nil && *value == "" {
		return field.ErrorList{field.Invalid(path, *value, "must not be empty; leave it out instead")}
	}
	return nil
}

// OneOf rejects a value that is not allowed.
func OneOf[S ~string](value S, path *field.Path, allowed ...S) field.ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}

// Immutable rejects a change of a field.
func Immutable(value, old any, path *field.Path) field.ErrorList {
	return apivalidation.ValidateImmutableField(value, old, path)
}

// Frozen forbids spec changes of objects that are being deleted.
func Frozen(obj metav1.Object, spec, old any) field.ErrorList {
	if obj.GetDeletionTimestamp() == nil || Same(spec, old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "must not change while the object is being deleted")}
}

// Unique rejects every value that occurs more than once.
func Unique(values []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, v := range values {
		if slices.Index(values, v) < i {
			errs = append(errs, field.Duplicate(path.Index(i), v))
		}
	}
	return errs
}

// NotNegative rejects a number below zero.
func NotNegative[N ~int32 | ~int64](value *N, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	return apivalidation.ValidateNonnegativeField(int64(*value), path)
}

// NotShrinking rejects a number that is below its old value.
func NotShrinking(value, old int32, path *field.Path) field.ErrorList {
	if value < old {
		return field.ErrorList{field.Invalid(path, value, "must not be below its old value")}
	}
	return nil
}

// Selector checks an optional selector.
func Selector(s *metav1.LabelSelector, path *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, path)
}

// Network checks a network in CIDR notation.
func Network(cidr string, path *field.Path) field.ErrorList {
	prefix, err := netip.ParsePrefix(cidr)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, cidr, "must be a network such as 10.0.0.0/8 or 2001:db8::/64")}
	case prefix.Masked() != prefix:
		return field.ErrorList{field.Invalid(path, cidr, "must be the first address of its network: "+prefix.Masked().String())}
	default:
		return nil
	}
}
