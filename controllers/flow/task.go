// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"context"
	"time"
)

const (
	defaultRetryInterval = 5 * time.Second
	defaultRetryTimeout  = 30 * time.Second
)

// Task is one node of a graph.
type Task struct {
	// ID names the task in progress reports, errors and pictures. It is unique within its graph.
	ID string
	// After lists the ids of the tasks that have to be done before this one starts.
	After []string
	// Timeout bounds the task with all of its retries. Zero means that only the run's context bounds it.
	Timeout time.Duration
	// Retry tells whether and how long a failing task is tried again. The zero value tries once.
	Retry Retry
	// Skip leaves the task out: it counts as done for the tasks that wait for it and is no part of the total.
	Skip bool
	// Do does the work. It is idempotent, re-reads the world, and returns when its context ends.
	Do func(ctx context.Context) error
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
