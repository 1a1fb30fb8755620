// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Wait shows what the operation waits for. The operation stays under way.
func (o *Operation[T]) Wait(ctx context.Context, reason string) error {
	return o.wait(ctx, reason, nil)
}

// wait shows what the operation waits for and, among its errors, that of the step that makes it wait.
func (o *Operation[T]) wait(ctx context.Context, reason string, cause error) error {
	return o.move(ctx, quiet, func(f Fields, _ T, now time.Time) {
		o.pending(f)
		wait(f, reason, now)
		if step, ok := errors.AsType[*stepError](cause); ok {
			outlast(f, step, now)
		}
	})
}

// Waited returns how long the operation has been waiting for that reason.
func (o *Operation[T]) Waited(reason string) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := *o.fields().LastOperation
	if last == nil || last.State != gardencorev1beta1.LastOperationStateProcessing || last.Description != describe(reason) {
		return 0
	}
	return o.machine.Clock.Since(last.LastUpdateTime.Time)
}

// Succeed ends the operation with success and writes the changes. They may change conditions: they are made on the current object,
// and repeated after a conflict.
func (o *Operation[T]) Succeed(ctx context.Context, changes ...func(object T)) error {
	return o.move(ctx, loud, func(f Fields, _ T, now time.Time) {
		if f.RetryCycle != nil && *f.RetryCycle != nil {
			o.cycle = *f.RetryCycle
		}
		succeed(f, ended(underWay(f).Type, o.machine.Kind.Noun), now)
	}, changes...)
}

// Fail ends a pass with an error and returns what the controller has to return. A run that was interrupted is aborted, one that
// waits (kit.Wait) continues and shows the error of the step (AtStep) that makes it wait, if there is one, and a conflict outside of tasks is
// not reported. Every other error ends the operation: in state Error if it is tried again, in state Failed if somebody has to act first. An operation may fail after Succeed, because its success could not be
// told to everybody: its retry cycle goes on then (GLET-SHOOT-16).
func (o *Operation[T]) Fail(ctx context.Context, err error) (reconcile.Result, error) {
	if ctx.Err() != nil {
		return reconcile.Result{}, o.Abort(ctx)
	}
	if reason, waiting := kit.WaitReason(err); waiting {
		return kit.Result(kit.Continue(), cmp.Or(o.wait(ctx, reason, err), err))
	}
	if kit.IsTransient(err) && len(flow.Errors(err)) == 0 {
		return kit.Result(kit.Continue(), err)
	}
	writeErr := o.move(ctx, loud, func(f Fields, _ T, now time.Time) {
		o.pending(f)
		if f.RetryCycle != nil && *f.RetryCycle == nil {
			*f.RetryCycle = o.cycle
		}
		fail(f, setback{err: err, patience: o.machine.Patience, hint: o.machine.Kind.Hint}, now)
	})
	if writeErr != nil {
		return reconcile.Result{}, fmt.Errorf("%w; and the failure could not be reported: %w", err, writeErr)
	}
	if _, final := kit.UserReason(err); final || o.State() == gardencorev1beta1.LastOperationStateFailed {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	return reconcile.Result{}, err
}

// Abort reports that a run has ended with its context: because the process ends, and the next one continues it, or because of an
// InterruptedError, whose reason is then shown beside the errors that there were before. It returns the cause.
func (o *Operation[T]) Abort(ctx context.Context) error {
	cause := context.Cause(ctx)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := o.move(ctx, quiet, func(f Fields, _ T, now time.Time) {
		if last := *f.LastOperation; last != nil && last.State == gardencorev1beta1.LastOperationStateProcessing {
			abort(f, cause, now)
		}
	})
	return cmp.Or(err, cause)
}

// Pend reports that an operation must not begin for now.
func (o *Operation[T]) Pend(ctx context.Context, kind gardencorev1beta1.LastOperationType, reason string) error {
	return o.move(ctx, quiet, func(f Fields, _ T, now time.Time) {
		hold(f, gardencorev1beta1.LastOperation{Type: kind, State: gardencorev1beta1.LastOperationStatePending, Description: describe(reason)}, now)
	})
}

// Postpone reports why an operation cannot begin now. This does not count as a failed attempt, and its time not as one of trying: the next
// run begins a new retry cycle, because nobody can tell what the tries before have failed of (GLET-SHOOT-8).
func (o *Operation[T]) Postpone(ctx context.Context, kind gardencorev1beta1.LastOperationType, reason error) error {
	return o.move(ctx, quiet, func(f Fields, _ T, now time.Time) {
		unset(f.RetryCycle)
		hold(f, gardencorev1beta1.LastOperation{Type: kind, State: gardencorev1beta1.LastOperationStateError, Description: describe(reason.Error()) + retryHint}, now)
	})
}

// Refuse reports why no operation may begin until the owner of the object has acted.
func (o *Operation[T]) Refuse(ctx context.Context, start Start[T], reason error) error {
	return o.move(ctx, loud, func(f Fields, object T, now time.Time) {
		*f.LastOperation = &gardencorev1beta1.LastOperation{Type: start.Type}
		fail(f, setback{err: reason}, now)
		if start.Change != nil {
			start.Change(object)
		}
	})
}
