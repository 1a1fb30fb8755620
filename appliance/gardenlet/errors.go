// SPDX-License-Identifier: Apache-2.0

package gardenlet

import (
	"errors"
	"fmt"
	"syscall"
)

// hintedError brings its own advice.
type hintedError struct {
	err  error
	hint string
}

// Error is the problem alone.
func (e *hintedError) Error() string { return e.err.Error() }

// Unwrap gives the problem.
func (e *hintedError) Unwrap() error { return e.err }

// Hint says what to do about it.
func (e *hintedError) Hint() string { return e.hint }

// portError adds the way out to an error that may come from a port that somebody else listens on.
func portError(err error, field string) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return &hintedError{err: err, hint: fmt.Sprintf("another process, perhaps another gardenlet, listens there: give %s another value in the configuration, or -1 for none", field)}
}
