// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"fmt"
)

var (
	// ErrNotReady says that a unit returned before it called ready.
	ErrNotReady = errors.New("ended before it was ready")

	errGoexit = errors.New("goroutine was ended from within")
)

// PanicError is the error of a unit that panicked.
type PanicError struct {
	// Value is the value of the panic.
	Value any
	// Stack is the stack of the goroutine at the time of the panic.
	Stack []byte
}

// Error implements error. The message includes the stack, because a panic is a bug whose place has to be found.
func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack)
}

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
