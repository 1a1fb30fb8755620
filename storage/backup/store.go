// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"io"
)

// Store is where files are kept.
type Store interface {
	// Put keeps what is written under a name: all of it, once Put has returned, or nothing.
	Put(ctx context.Context, name string, write func(io.Writer) error) error
	// Open opens a file; the error wraps ErrNotFound if there is none of the name.
	Open(ctx context.Context, name string) (File, error)
	// List returns all snapshots and increments. Other files are left out.
	List(ctx context.Context) ([]Entry, error)
	// Delete removes a file; the error wraps ErrNotFound if there is none of the name.
	Delete(ctx context.Context, name string) error
	// String says where it is, without credentials.
	String() string
}
