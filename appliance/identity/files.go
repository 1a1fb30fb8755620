// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	dirMode     = 0o700
	privateMode = 0o600
)

// writeFile replaces a file of a data directory with data, readable only by the owner, who is that of the directory of the file. After a
// crash, the file has either the old or the new content.
func writeFile(path string, data []byte) error {
	return replaceFile(path, data, giveToOwnerOf)
}

// WritePrivate replaces a file with data, readable only by the user who runs this process. After a crash, the file has either the old or the
// new content.
func WritePrivate(path string, data []byte) error {
	return replaceFile(path, data, keep)
}

// keep leaves a file to the user who runs this process.
func keep(*os.File, *os.Root) error { return nil }

// replaceFile replaces a file, and decides by give whose the new one is before it has a content. It opens the directory once, so that nobody
// can put another one in its place meanwhile.
func replaceFile(path string, data []byte, give func(f *os.File, dir *os.Root) error) (err error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	name := filepath.Base(path)
	temporary := ".tmp-" + name + "-" + rand.Text()
	f, err := dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateMode)
	if err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	if err := give(f, dir); err != nil {
		return errors.Join(notGiven(path, err), f.Close(), dir.Remove(temporary))
	}
	if err := fill(f, data); err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", path, err), dir.Remove(temporary))
	}
	if err := dir.Rename(temporary, name); err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", path, err), dir.Remove(temporary))
	}
	return syncDir(filepath.Dir(path))
}

// fill writes data to f, syncs it and closes f.
func fill(f *os.File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// syncDir syncs the directory dir, so that renames in it are durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the path is the operator's own
	if err != nil {
		return fmt.Errorf("sync %q: %w", dir, err)
	}
	if err := d.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync %q: %w", dir, err), d.Close())
	}
	return d.Close()
}

// readPrivate reads a file and removes the permissions of other users.
func readPrivate(path string) ([]byte, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the path is the operator's own
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&^privateMode != 0 {
		if err := os.Chmod(path, privateMode); err != nil {
			return nil, err
		}
	}
	return data, nil
}
