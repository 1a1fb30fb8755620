// SPDX-License-Identifier: Apache-2.0

package gardenlet

import (
	"errors"
	"fmt"
	"syscall"
)

// hintedError is an error with advice for the user.
type hintedError struct {
	err  error
	hint string
}

// Error implements error. The message does not contain the hint.
func (e *hintedError) Error() string { return e.err.Error() }

// Unwrap returns the error without the hint.
func (e *hintedError) Unwrap() error { return e.err }

// Hint returns the advice.
func (e *hintedError) Hint() string { return e.hint }

// portError adds a hint to an error if the port may be in use by another process.
func portError(err error, field string) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	return &hintedError{err: err, hint: fmt.Sprintf("another process, perhaps another gardenlet, listens on this port: set %s to another port in the configuration, or to -1 to disable it", field)}
}
