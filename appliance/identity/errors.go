// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
)

var (
	// ErrInUse is in the error for a data directory that another process holds.
	ErrInUse = errors.New("data directory is in use")
	// ErrNotWritable is in the error for a data directory in which nothing can be written.
	ErrNotWritable = errors.New("data directory is not writable")
	// ErrNewerLayout is in the error for a data directory that was written by a newer version.
	ErrNewerLayout = errors.New("data directory is of a newer version")

	// ErrMalformedToken is in the error for text that is no join token.
	ErrMalformedToken = errors.New("malformed join token")
	// ErrUnpinned is in the error for a join token without the hash of a CA.
	ErrUnpinned = errors.New("join token pins no CA")
	// ErrCAMismatch is in the error for a server whose CA is not the one that the token pins.
	ErrCAMismatch = errors.New("the CA is not the one that the token pins")
	// ErrServerCertificate is in the error for a server that cannot prove that the published CA is its own.
	ErrServerCertificate = errors.New("the server's certificate does not come from the published CA")
)

// CorruptError says that a file of the data directory cannot be used.
type CorruptError struct {
	// File is the path of the file.
	File string
	// Remedy is what the operator can do about it.
	Remedy string
	// Err is what is wrong.
	Err error
}

// Error names the file, the problem and the way out.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("file %q is not usable: %v; %s", e.File, e.Err, e.Remedy)
}

// Unwrap gives what is wrong with the file.
func (e *CorruptError) Unwrap() error { return e.Err }

const (
	remedyRestore = "restore it from a backup of the data directory: it cannot be made again without losing what depends on it"
	remedyReissue = "remove the file and start again: it is then issued anew"
)
