// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
)

// ErrUnreadable says that a plugin could not read what it needs for its decision. That is not a rejection: a retry of the
// same request may be accepted.
var ErrUnreadable = errors.New("the garden could not be read")

// unreadable marks errors of a read as ErrUnreadable, except that the object does not exist.
func unreadable(err error) error {
	if err == nil || apierrors.IsNotFound(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}

// InvalidError is a rejection that names a field. Clients see it as a failed validation, as from the validation of the
// object alone, and not as forbidden.
type InvalidError struct{ Errors field.ErrorList }

// Error implements error.
func (e *InvalidError) Error() string { return e.Errors.ToAggregate().Error() }

// Invalid returns an error that rejects the value of a field for a reason.
func Invalid(path *field.Path, value any, reason string) error {
	return &InvalidError{Errors: field.ErrorList{field.Invalid(path, value, reason)}}
}

// Answer converts the error of a plugin into the response to the request: forbidden, a failed validation, or an internal
// error if the garden could not be read.
func Answer(a admission.Attributes, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnreadable):
		return apierrors.NewInternalError(err)
	case invalid(err) != nil:
		return apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), invalid(err))
	default:
		return admission.NewForbidden(a, err)
	}
}

// invalid collects the field errors of a rejection from all its joined errors. It is nil if the rejection has another reason
// too.
func invalid(err error) field.ErrorList {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all field.ErrorList
		for _, part := range joined.Unwrap() {
			of := invalid(part)
			if of == nil {
				return nil
			}
			all = append(all, of...)
		}
		return all
	}
	if one, ok := errors.AsType[*InvalidError](err); ok {
		return one.Errors
	}
	return nil
}

// Missing converts a NotFound error into a rejection which says that the object does not exist. Other errors are wrapped.
func Missing(err error, path, kind, name string) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s: %s %q does not exist; create it first or name another", path, kind, name)
	default:
		return fmt.Errorf("%s: read %s %q: %w", path, kind, name, err)
	}
}
