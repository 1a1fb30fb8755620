// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"k8s.io/utils/clock"
)

// errTimeUp is the cause of a context that a task's own limit has ended.
var errTimeUp = errors.New("time is up")

// perform runs one task within its time limit, with its retries. A task that succeeds must have set the values that it declares.
func perform(ctx context.Context, clk clock.Clock, t *Task, set *values) error {
	ctx, stop := withTimeout(ctx, clk, t.limit())
	defer stop()
	err := performRetrying(context.WithValue(ctx, scopeKey{}, &scope{task: t, values: set}), clk, t)
	if err == nil {
		return set.missing(t)
	}
	if errors.Is(context.Cause(ctx), errTimeUp) {
		return &TimeoutError{After: t.limit(), Last: err}
	}
	return err
}

func performRetrying(ctx context.Context, clk clock.Clock, t *Task) error {
	retry, retries := t.Retry.complete()
	if !retries {
		return protect(ctx, t.Do)
	}
	limited, stop := withTimeout(ctx, clk, retry.Timeout)
	defer stop()
	err := Until(limited, clk, Every(retry.Interval), func(ctx context.Context) error {
		err := protect(ctx, t.Do)
		if _, panicked := errors.AsType[*PanicError](err); panicked {
			return Final(err)
		}
		return err
	})
	ended, ok := errors.AsType[*EndedError](err)
	switch {
	case !ok:
		return err
	case ctx.Err() == nil:
		return &TimeoutError{After: retry.Timeout, Last: ended.Last}
	default:
		return ended.Last
	}
}

// protect turns a panic into an error.
func protect(ctx context.Context, do func(context.Context) error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return do(ctx)
}

// withTimeout is context.WithTimeout on the given clock. The returned function ends the watch and waits for it.
func withTimeout(parent context.Context, clk clock.Clock, limit time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	timer := clk.NewTimer(limit)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-timer.C():
			cancel(errTimeUp)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		timer.Stop()
		cancel(nil)
		<-watched
	}
}
