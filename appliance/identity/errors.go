// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
)

var (
	// ErrInUse says that another process uses the data directory.
	ErrInUse = errors.New("data directory is in use")
	// ErrNotWritable says that the process cannot write to the data directory.
	ErrNotWritable = errors.New("data directory is not writable")
	// ErrNewerLayout says that a newer version has written the data directory.
	ErrNewerLayout = errors.New("data directory was written by a newer version")

	// ErrMalformedToken says that a text is not a join token.
	ErrMalformedToken = errors.New("malformed join token")
	// ErrUnpinned says that a join token does not contain the hash of a CA.
	ErrUnpinned = errors.New("join token does not contain the hash of a CA")
	// ErrCAMismatch says that the CA of a server does not have the hash in the token.
	ErrCAMismatch = errors.New("the CA does not have the hash in the token")
	// ErrServerCertificate says that the published CA did not sign the certificate of the server.
	ErrServerCertificate = errors.New("the server's certificate is not signed by the published CA")
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

// Error implements error. The message names the file, the problem and the remedy.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("file %q cannot be used: %v; %s", e.File, e.Err, e.Remedy)
}

// Unwrap returns what is wrong with the file.
func (e *CorruptError) Unwrap() error { return e.Err }

const (
	remedyRestore = "restore it from a backup of the data directory: it cannot be replaced without losing what depends on it"
	remedyReissue = "remove the file and restart: a new one is then issued"
)
