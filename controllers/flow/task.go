// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"context"
	"time"
)

const (
	defaultRetryInterval = 5 * time.Second
	defaultRetryTimeout  = 30 * time.Second
	// DefaultTimeout bounds a task without a limit of its own. It is longer than every wait that has one, and ends what
	// hangs.
	DefaultTimeout = 15 * time.Minute
)

// ID names a task. It is unique within its graph and does not change: it is kept with errors and counted by metrics.
type ID string

// Task is one node of a graph. A flow is put together from slices of tasks.
type Task struct {
	ID ID
	// Title tells people what happens while the task runs, as in "Waiting for the API server".
	Title string
	// After lists the tasks that have to be done before this one starts, apart from those whose values it reads.
	After []ID
	// Sets and Reads list the values that the task hands to others and those that it takes. A task starts when all values
	// that it reads are set.
	Sets, Reads []Slot
	// Timeout bounds the task with all of its retries. Zero means DefaultTimeout.
	Timeout time.Duration
	// Retry tells whether and how long a failing task is tried again. The zero value tries once.
	Retry Retry
	// Skip leaves the task out: it counts as done for the tasks that wait for it and is no part of the total. It is decided
	// before Compile, so that Compile sees which values will not be set: what depends on the world is looked at first.
	Skip bool
	// Do does the work. It is idempotent, re-reads the world, and returns when its context ends.
	Do func(ctx context.Context) error
}

func (t *Task) limit() time.Duration {
	if t.Timeout > 0 {
		return t.Timeout
	}
	return DefaultTimeout
}

// Retry repeats a failing task at an interval until a timeout. A field left at zero takes its default (5 s and 30 s) as
// soon as the other one is set.
type Retry struct {
	Interval time.Duration
	Timeout  time.Duration
}

// DefaultRetry tries every 5 s for 30 s.
func DefaultRetry() Retry {
	return Retry{Interval: defaultRetryInterval, Timeout: defaultRetryTimeout}
}

func (r Retry) enabled() bool {
	return r.Interval > 0 || r.Timeout > 0
}

func (r Retry) withDefaults() Retry {
	if r.Interval <= 0 {
		r.Interval = defaultRetryInterval
	}
	if r.Timeout <= 0 {
		r.Timeout = defaultRetryTimeout
	}
	return r
}
