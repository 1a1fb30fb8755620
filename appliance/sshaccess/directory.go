// SPDX-License-Identifier: Apache-2.0

package sshaccess

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	// directoryPrefix is how the names of directories for keys begin. Earlier versions used terrarium-ssh- and locked nothing.
	directoryPrefix = "terrarium-sshkeys-"
	// directoryAttempts is how often another one is made if a sweep of another process has taken one away before it was locked.
	directoryAttempts = 5
)

// errTaken says that a directory is in use by a process, or gone.
var errTaken = errors.New("the directory is taken")

// newDirectory makes a directory for keys. It belongs to this process until the lock is closed or the process ends, in whatever way.
func newDirectory(parent string) (dir string, lock *os.File, err error) {
	for range directoryAttempts {
		if dir, err = os.MkdirTemp(parent, directoryPrefix); err != nil { // With mode 0700.
			break
		}
		if lock, err = lockDirectory(dir); err == nil {
			return dir, lock, nil
		}
		if !errors.Is(err, errTaken) {
			err = errors.Join(err, os.RemoveAll(dir))
			break
		}
	}
	return "", nil, fmt.Errorf("make a directory for keys: %w", err)
}

// lockDirectory locks a directory of this user. The error is errTaken if it belongs to another process, or was removed meanwhile.
func lockDirectory(dir string) (_ *os.File, err error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0) //nolint:gosec // The path is made here, or found by its prefix.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errTaken
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	held, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if owner, ok := held.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return nil, errTaken
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errTaken
		}
		return nil, fmt.Errorf("lock %q: %w", dir, err)
	}
	if is, err := os.Lstat(dir); err != nil || !os.SameFile(is, held) {
		return nil, errTaken
	}
	return f, nil
}

// sweep removes the directories that processes of this user have left behind, because they were killed or the machine went down. It
// returns their paths. Those of processes that run are locked, and stay.
func sweep(parent string) (removed []string, err error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil, fmt.Errorf("look for keys that were left behind: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), directoryPrefix) {
			continue
		}
		dir := filepath.Join(parent, entry.Name())
		lock, err := lockDirectory(dir)
		if err != nil {
			continue // It is of somebody else, or of a process that runs.
		}
		if err := errors.Join(os.RemoveAll(dir), lock.Close()); err != nil {
			errs = append(errs, fmt.Errorf("remove keys that were left behind: %w", err))
			continue
		}
		removed = append(removed, dir)
	}
	return removed, errors.Join(errs...)
}
