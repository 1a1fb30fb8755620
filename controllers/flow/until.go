// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"
)

// Pause returns how long to wait before the next attempt. It is called once before each wait.
type Pause func() time.Duration

// Every waits for the same time before each attempt.
func Every(interval time.Duration) Pause {
	return func() time.Duration { return interval }
}

// InProportion waits a tenth as long as it has waited so far, so that nobody waits much longer than what he waits for takes. No pause is
// shorter than the first or longer than the longest.
func InProportion(clk clock.PassiveClock, first, longest time.Duration) Pause {
	const share = 10
	begin := clk.Now()
	return func() time.Duration {
		return min(max(first, clk.Since(begin)/share), max(first, longest))
	}
}

// EndedError says that the context ended before the answer was nil or final.
type EndedError struct {
	// Last is the last answer.
	Last error
	// Cause is why the context ended.
	Cause error
}

// Error shows both.
func (e *EndedError) Error() string {
	return fmt.Sprintf("%v (%v)", e.Last, e.Cause)
}

// Unwrap returns both.
func (e *EndedError) Unwrap() []error {
	return []error{e.Last, e.Cause}
}

// Final marks an answer that will not change: Until returns err at once.
func Final(err error) error {
	return finalError{err: err}
}

type finalError struct{ err error }

func (e finalError) Error() string { return e.err.Error() }

// Until calls ask until the answer is nil or final. If the context ends before that, it returns an *EndedError. It asks at
// least once.
func Until(ctx context.Context, clk clock.Clock, pause Pause, ask func(ctx context.Context) error) error {
	var last error
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		if final, ok := errors.AsType[finalError](err); ok {
			return final.err
		}
		// The end of the context interrupts the last attempt, so its answer says less than the one before it.
		if last == nil || ctx.Err() == nil {
			last = err
		}
		timer := clk.NewTimer(pause())
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
		}
		if ctx.Err() != nil {
			return &EndedError{Last: last, Cause: context.Cause(ctx)}
		}
	}
}
