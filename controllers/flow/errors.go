// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// TaskError is the failure of one task.
type TaskError struct {
	// ID is the id of the task.
	ID ID
	// Err is what the task returned, or a PanicError, or a TimeoutError.
	Err error
}

// Error says which task failed and why.
func (e TaskError) Error() string {
	return fmt.Sprintf("task %q failed: %v", e.ID, e.Err)
}

// Unwrap returns what the task returned.
func (e TaskError) Unwrap() error {
	return e.Err
}

// RunError is the result of a run that did not succeed.
type RunError struct {
	// Flow is the name of the graph.
	Flow string
	// Tasks holds an entry for each failed task, sorted by id.
	Tasks []TaskError
	// Cause is set when the run was cancelled before every task could start.
	Cause error
}

// Error lists every failed task.
func (e *RunError) Error() string {
	parts := make([]string, 0, len(e.Tasks)+1)
	for _, t := range e.Tasks {
		parts = append(parts, t.Error())
	}
	if e.Cause != nil {
		parts = append(parts, fmt.Sprintf("the run was cancelled: %v", e.Cause))
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the task errors and the cause of a cancellation.
func (e *RunError) Unwrap() []error {
	all := make([]error, 0, len(e.Tasks)+1)
	for _, t := range e.Tasks {
		all = append(all, t)
	}
	if e.Cause != nil {
		all = append(all, e.Cause)
	}
	return all
}

// Errors returns the task errors of a run, sorted by id, or nothing if err does not come from a run.
func Errors(err error) []TaskError {
	if run, ok := errors.AsType[*RunError](err); ok {
		return run.Tasks
	}
	return nil
}

// PanicError is a panic of a task turned into an error.
type PanicError struct {
	// Value is what the task panicked with.
	Value any
	// Stack is the stack of the panic. The message does not include it.
	Stack []byte
}

// Error shows the value only.
func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v", e.Value)
}

// TimeoutError says that a task did not finish within its time limit.
type TimeoutError struct {
	// After is the time limit.
	After time.Duration
	// Last is what the task returned last; it may be nil.
	Last error
}

// Error shows the limit and the last error.
func (e *TimeoutError) Error() string {
	if e.Last == nil {
		return fmt.Sprintf("not done within %s", e.After)
	}
	return fmt.Sprintf("not done within %s: %v", e.After, e.Last)
}

// Unwrap returns the last error.
func (e *TimeoutError) Unwrap() error {
	return e.Last
}
