// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"cmp"
	"context"
	"time"
)

// DefaultTimeout bounds a task without a limit of its own, so that no task hangs forever. It is longer than every wait that
// has a limit.
const DefaultTimeout = 15 * time.Minute

// ID names a task. It is unique within its graph and does not change: it is kept with errors and counted by metrics.
type ID string

// Task is one node of a graph. A flow is composed of slices of tasks.
type Task struct {
	ID ID
	// Title says to users what the task does, as in "Waiting for the API server".
	Title string
	// After lists the tasks that have to be done before this one starts, apart from those whose values it reads.
	After []ID
	// Sets and Reads list the values that the task hands to others and those that it takes. A task starts when all values
	// that it reads are set.
	Sets, Reads []Slot
	// Timeout bounds the task with all of its retries. Zero means DefaultTimeout.
	Timeout time.Duration
	// Retry says how often and how long a failing task is retried. The zero value does not retry.
	Retry Retry
	// Skip leaves the task out: it counts as done for the tasks that wait for it, and not in the total. It is decided before
	// Compile, so that Compile knows which values will not be set.
	Skip bool
	// Do does the work. It is idempotent, reads the current state, and returns when its context ends.
	Do func(ctx context.Context) error
}

func (t *Task) limit() time.Duration { return cmp.Or(t.Timeout, DefaultTimeout) }

// Retry repeats a failing task at an interval until a timeout.
type Retry struct{ Interval, Timeout time.Duration }
