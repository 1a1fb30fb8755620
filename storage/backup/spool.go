// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// fill writes a file and goes back to its start.
func fill(f *os.File, write func(io.Writer) error) (size int64, err error) {
	if err := write(f); err != nil {
		return 0, withRemedy(err, filepath.Dir(f.Name()))
	}
	if size, err = f.Seek(0, io.SeekCurrent); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}

	return size, err
}
