// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Root may work on the data directory of a service that runs as another user: what it creates there has to belong to that user, or the
// next start of the service cannot read it. That user is not trusted further than with its own directory. So nothing is given away by a
// path that could lead somewhere else, only by an open file, and no file that has another name as well.

// GiveToOwner gives some directories in a data directory, and what is in them, to the owner of the data directory, as far as they are
// those of root. Directories that do not exist are left out. It opens and closes all files, so nobody in this process may hold POSIX locks
// on them, as SQLite does.
func GiveToOwner(dir string, names ...string) (err error) {
	if os.Geteuid() != 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return directoryError(dir, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	owner, err := root.Stat(".")
	if err != nil {
		return directoryError(dir, err)
	}
	for _, name := range names {
		// A link leads to what is not in the directory, and is the operator's own affair.
		if info, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue
		}
		err := fs.WalkDir(root.FS(), name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case !entry.IsDir() && !entry.Type().IsRegular():
				return nil
			default:
				return giveNamed(root, path, owner)
			}
		})
		if err != nil {
			return notGiven(filepath.Join(dir, name), err)
		}
	}

	return nil
}

// giveNamed gives one file or directory below root away.
func giveNamed(root *os.Root, path string, owner fs.FileInfo) error {
	// A file that was exchanged for a pipe in the meantime must not block.
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	return errors.Join(give(f, owner), f.Close())
}

// giveToOwnerOf gives an open file that root has created to the owner of a directory.
func giveToOwnerOf(f *os.File, dir *os.Root) error {
	if os.Geteuid() != 0 {
		return nil
	}
	owner, err := dir.Stat(".")
	if err != nil {
		return err
	}

	return give(f, owner)
}

// give gives an open file of root to the owner of something else.
func give(f *os.File, owner fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	is, known := info.Sys().(*syscall.Stat_t)
	to, toKnown := owner.Sys().(*syscall.Stat_t)
	if !known || !toKnown || is.Uid != 0 || to.Uid == 0 {
		return nil
	}
	if !info.IsDir() && (!info.Mode().IsRegular() || is.Nlink > 1) {
		return nil
	}

	return f.Chown(int(to.Uid), int(to.Gid))
}

// makeStaging creates a directory in a data directory for keys and certificates that are not complete yet.
func makeStaging(dir string) (string, error) {
	staging, err := os.MkdirTemp(dir, pkiStagingDirPattern)
	if err != nil {
		return "", directoryError(dir, err)
	}
	if err := GiveToOwner(dir, filepath.Base(staging)); err != nil {
		return "", errors.Join(err, os.RemoveAll(staging))
	}

	return staging, nil
}

func notGiven(path string, err error) error {
	return fmt.Errorf("give %q to the owner of the data directory: %w", path, err)
}
