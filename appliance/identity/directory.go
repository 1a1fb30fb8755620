// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Layout is the version of the data directory's layout that this version reads and writes.
const Layout = 2

const (
	lockFile   = "lock"
	layoutFile = "layout"
)

// Lock is the exclusive lock of a process on a data directory. The system releases it when the process ends, in any way.
type Lock struct {
	file *os.File
}

// LockDirectory creates dir if it is missing, removes the permissions of other users, and locks it for this process. The lock file belongs
// to the owner of the directory, also if root creates it. The error wraps ErrInUse and names the process if another one holds the lock,
// and ErrNotWritable if this process may not write to dir.
func LockDirectory(dir string) (_ *Lock, err error) {
	if err := prepare(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, directoryError(dir, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	path := filepath.Join(dir, lockFile)
	// No link: its target would be emptied, by root for another user.
	f, err := root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, privateMode)
	if err != nil {
		return nil, directoryError(dir, err)
	}
	if err := giveToOwnerOf(f, root); err != nil {
		return nil, errors.Join(notGiven(path, err), f.Close())
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close() //nolint:errcheck // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %q is used by %s", ErrInUse, dir, holder(f))
		}
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	if err := writeHolder(f); err != nil {
		return nil, errors.Join(directoryError(dir, err), f.Close())
	}
	return &Lock{file: f}, nil
}

// Release releases the lock. The lock file stays: if it were removed, two processes could lock two files of the same name.
func (l *Lock) Release() error {
	if err := l.file.Truncate(0); err != nil {
		return errors.Join(fmt.Errorf("release %q: %w", l.file.Name(), err), l.file.Close())
	}
	return l.file.Close()
}

// prepare creates dir, or removes the permissions of other users if it is empty or a data directory. A directory with other
// files that other users may read is more likely a mistake of the operator than a place for keys.
func prepare(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return directoryError(dir, err)
		}
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("data directory %q: a part of the path is a file, not a directory", dir)
	case err != nil:
		return directoryError(dir, err)
	case !info.IsDir():
		return fmt.Errorf("data directory %q is a file, not a directory", dir)
	case info.Mode().Perm()&^dirMode == 0:
		return nil
	}
	ours, err := isOurs(dir)
	if err != nil {
		return directoryError(dir, err)
	}
	if !ours {
		return fmt.Errorf("data directory %q contains other files and is accessible to other users (mode %#o): choose an empty directory, or run chmod 0700 on this one",
			dir, info.Mode().Perm())
	}
	if err := os.Chmod(dir, dirMode); err != nil {
		return directoryError(dir, err)
	}
	return nil
}

// isOurs reports whether dir is empty or a data directory.
func isOurs(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		switch e.Name() {
		case layoutFile:
			return true, nil
		case lockFile, useFile, "lost+found":
		default:
			return false, nil
		}
	}
	return true, nil
}

func directoryError(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %q as user %d: %w", ErrNotWritable, dir, os.Getuid(), err)
	}
	return fmt.Errorf("data directory %q: %w", dir, err)
}

// holder returns the process that holds the lock, if the file names it.
func holder(f *os.File) string {
	data, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return "another process"
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return "another process"
	}
	return fmt.Sprintf("process %d", pid)
}

func writeHolder(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readLayout returns the version of dir's layout; 0 if dir was never used.
func readLayout(dir string) (int, error) {
	path := filepath.Join(dir, layoutFile)
	data, err := os.ReadFile(path) //nolint:gosec // the path is the operator's own
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read layout of data directory: %w", err)
	}
	version, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || version < 1 {
		return 0, &CorruptError{File: path, Err: errors.New("it does not contain a version number"), Remedy: remedyRestore}
	}
	if version > Layout {
		return 0, fmt.Errorf("%w: %q has layout %d, but this version supports layouts up to %d; run the version that wrote it, or a newer one",
			ErrNewerLayout, dir, version, Layout)
	}
	return version, nil
}

func writeLayout(dir string) error {
	return writeFile(filepath.Join(dir, layoutFile), []byte(strconv.Itoa(Layout)+"\n"))
}
