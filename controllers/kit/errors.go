// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// transientDelay is the delay of the next pass after a lost race for an object. The cache catches up in this time.
const transientDelay = 100 * time.Millisecond

type userError struct {
	reason string
	err    error
}

func (e *userError) Error() string { return e.err.Error() }

func (e *userError) Unwrap() error { return e.err }

type waitError struct {
	after  time.Duration
	reason string
}

func (e *waitError) Error() string { return e.reason }

// UserMustFix marks an error that only the user can resolve. It is not retried. The reason is a CamelCase word for a
// condition.
func UserMustFix(reason string, err error) error {
	if err == nil {
		return nil
	}
	return &userError{reason: reason, err: err}
}

// UserReason returns the reason of an error made by UserMustFix, and whether there is one in the chain.
func UserReason(err error) (string, bool) {
	if target, ok := errors.AsType[*userError](err); ok {
		return target.reason, true
	}
	return "", false
}

// Wait says that something is not ready yet and has to be checked again after the given time. It is not logged as an
// error and does not increase the backoff.
func Wait(after time.Duration, reason string) error {
	return &waitError{after: after, reason: reason}
}

// WaitReason returns what an error made by Wait waits for, and whether there is one in the chain.
func WaitReason(err error) (string, bool) {
	if target, ok := errors.AsType[*waitError](err); ok {
		return target.reason, true
	}
	return "", false
}

// IsTransient reports whether err is a lost race: the object was changed or created after the cache had been read. The
// pass is retried soon, and the error is never shown to users.
func IsTransient(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

// IsFailure reports whether err has to be shown to users. Waiting and lost races are not failures.
func IsFailure(err error) bool {
	_, waiting := WaitReason(err)
	return err != nil && !waiting && !IsTransient(err)
}

// Result translates the end of a pass for controller-runtime: waiting and lost races become delays, errors that the
// user must fix are final, everything else is retried with backoff.
func Result(outcome Outcome, err error) (reconcile.Result, error) {
	if err == nil {
		return reconcile.Result{RequeueAfter: outcome.after}, nil
	}
	if wait, ok := errors.AsType[*waitError](err); ok {
		return reconcile.Result{RequeueAfter: wait.after}, nil
	}
	if _, ok := UserReason(err); ok {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	if IsTransient(err) {
		return reconcile.Result{RequeueAfter: transientDelay}, nil
	}
	return reconcile.Result{}, err
}
