// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// Answer turns what a rule found into the answer to the request: a refusal with its reason, or an internal error when
// the garden could not be read.
func Answer(a admission.Attributes, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnreadable):
		return apierrors.NewInternalError(err)
	default:
		return admission.NewForbidden(a, err)
	}
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
