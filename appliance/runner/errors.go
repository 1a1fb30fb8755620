// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"fmt"
)

var (
	// ErrNotReady is in the error of a unit that returned before it called ready.
	ErrNotReady = errors.New("ended before it was ready")

	errGoexit = errors.New("goroutine was ended from within")
)

// PanicError is the error of a unit that panicked.
type PanicError struct {
	// Value is what the unit panicked with.
	Value any
	// Stack is the stack of the goroutine at that moment.
	Stack []byte
}

// Error holds the stack as well, because a panic is a mistake in the program and its place is what helps.
func (e *PanicError) Error() string {
	return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack)
}

// Unwrap gives the error that the unit panicked with, if it was one.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
