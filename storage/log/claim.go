// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrInUse says that another log is open on the same file, in this process or in another one.
var ErrInUse = errors.New("in use by another log")

// claim keeps others from a file until what it returns is closed, or the process has ended. Two logs on one file would each
// give out the same revisions.
//
// The claim is on a file of its own beside it, which stays. Closing the file itself would take away the locks that SQLite
// holds on it in this process, so it must not even be opened before it is known that nobody else has.
func claim(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make database directory: %w", err)
	}
	f, err := os.OpenFile(path+"-lock", os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // The path is the operator's data directory.
	if err != nil {
		return nil, fmt.Errorf("claim database: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}

		return nil, errors.Join(fmt.Errorf("claim database: %w", err), f.Close())
	}

	return f, nil
}
