// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// transientDelay is how long a pass waits after it lost a race for an object: long enough for the cache to catch up.
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

// UserMustFix marks an error that only a change by the user can end. It is not retried; reason is a CamelCase word for
// a condition.
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

// Wait says that the world is not ready yet and that looking again after the given time is all there is to do. It
// is not logged as an error and does not grow the backoff.
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

// IsTransient tells whether err is a lost race: the object changed or appeared after the cache had been read. Such
// an error is repeated quickly and is never shown to users.
func IsTransient(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
}

// IsFailure tells whether err says that something went wrong, so that users should hear of it. Waiting and lost races are
// no failures.
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
