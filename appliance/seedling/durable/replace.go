// SPDX-License-Identifier: Apache-2.0

package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Suffix is what the name of a file ends with until the file is in place. After a crash such a file may be left.
const Suffix = ".new"

// Replace replaces the file at the path. It returns when the content is on the disk.
func Replace(path string, content []byte, mode fs.FileMode) error {
	if err := write(path+Suffix, content, mode); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	if err := os.Rename(path+Suffix, path); err != nil {
		return fmt.Errorf("put file in place: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("open folder of file: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("sync folder of file: %w", err)
	}
	return nil
}

func write(path string, content []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode) //nolint:gosec // The caller names the path.
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}
