// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// writeNew makes a file that only its owner can read, has write fill it, and syncs it. The file must not exist, which is found out before
// write is called, and nothing is left of it if an error is returned.
func writeNew(path string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrExist) {
		return withHint(fmt.Errorf("%q exists already", path), "choose another file, or remove this one")
	}
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
