// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// newSpool makes a file that has no name any more when it is returned: nothing is left of it once it is closed, however the process ends.
func newSpool(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "upload-*")
	if err != nil {
		return nil, fmt.Errorf("make a file for an upload: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("make a file for an upload: %w", err), f.Close())
	}

	return f, nil
}

const (
	// spoolStep is how much is written between two looks at the disk, and spoolReserve what is left free of it: the databases may be on the
	// same one, and a garden that cannot write is worse than a snapshot that is not taken.
	spoolStep    = 8 << 20
	spoolReserve = 256 << 20
)

// spooler writes a file as long as there is space beside it.
type spooler struct {
	to *os.File
	// free returns how many bytes are free on the disk of the file.
	free    func(*os.File) (int64, error)
	written int64
}

// Write implements io.Writer.
func (s *spooler) Write(p []byte) (int, error) {
	before := s.written / spoolStep
	if s.written += int64(len(p)); s.written/spoolStep > before {
		if free, err := s.free(s.to); err == nil && free < spoolReserve {
			return 0, fmt.Errorf("%d MiB are left on the disk, and %d MiB of them are for the databases: %w", free>>20, spoolReserve>>20, syscall.ENOSPC)
		}
	}

	return s.to.Write(p)
}

// freeBytes is the space for files on the disk of a file.
func freeBytes(f *os.File) (int64, error) {
	var at unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &at); err != nil {
		return 0, err
	}

	return int64(at.Bavail) * at.Bsize, nil //nolint:gosec // No disk is so large.
}

// fill writes a file and goes back to its start.
func fill(f *os.File, write func(io.Writer) error) (size int64, err error) {
	if err := write(&spooler{to: f, free: freeBytes}); err != nil {
		return 0, withRemedy(err, filepath.Dir(f.Name()))
	}
	if size, err = f.Seek(0, io.SeekCurrent); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}

	return size, err
}
