// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
)

// ErrUnreadable says that a rule could not see what it has to decide on. That is no refusal: the same request may pass
// when it is made again.
var ErrUnreadable = errors.New("the garden could not be read")

// unreadable marks errors of a read, all but that the object does not exist.
func unreadable(err error) error {
	if err == nil || apierrors.IsNotFound(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}

// InvalidError is a refusal that names a field. Clients see it as a failed validation, as if the object alone had been
// looked at, and not as something that is forbidden to them.
type InvalidError struct{ Errors field.ErrorList }

// Error implements error.
func (e *InvalidError) Error() string { return e.Errors.ToAggregate().Error() }

// Invalid refuses a value of a field for a reason.
func Invalid(path *field.Path, value any, reason string) error {
	return &InvalidError{Errors: field.ErrorList{field.Invalid(path, value, reason)}}
}

// Answer turns what a rule found into the answer to the request: a refusal with its reason, a failed validation, or an
// internal error when the garden could not be read.
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

// invalid collects the fields that a refusal names, in all errors that it was joined from. It is nil for one that has
// another reason too.
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

// Missing says in a refusal that an object does not exist. Other errors are passed on.
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
