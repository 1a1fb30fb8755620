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
	// lockName is the file in a directory that is locked where directories cannot be.
	lockName = "lock"
)

var (
	// errTaken says that a directory is in use by a process, or gone.
	errTaken = errors.New("the directory is taken")
	// errNoLocks says that the file system has no locks.
	errNoLocks = errors.New("the file system has no locks")
)

// directories makes directories for keys in one folder, and sweeps it.
type directories struct {
	parent string
	// flock locks a file as long as it is open, and does not wait for others.
	flock func(file *os.File) error
}

// temporary is the folder for temporary files of this user.
func temporary() directories { return directories{parent: os.TempDir(), flock: flock} }

func flock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// create makes a directory for keys. It belongs to this process until it is removed or the process ends, in whatever way. On a file system
// without locks the lock is nil, and no process sweeps what another one has left behind.
func (d directories) create() (dir string, lock *os.File, err error) {
	for range directoryAttempts {
		if dir, err = os.MkdirTemp(d.parent, directoryPrefix); err != nil { // With mode 0700.
			break
		}
		lock, err = d.lock(dir)
		if err == nil || errors.Is(err, errNoLocks) {
			return dir, lock, nil
		}
		if !errors.Is(err, errTaken) {
			err = errors.Join(err, os.RemoveAll(dir))
			break
		}
	}
	return "", nil, fmt.Errorf("make a directory for keys: %w", err)
}

// lock locks a directory of this user. The error is errTaken if it belongs to another process, or was removed meanwhile. NFS locks nothing
// that is not open for writing, and directories never are: there a file in it is locked in its place.
func (d directories) lock(dir string) (*os.File, error) {
	file, err := d.take(dir, os.O_RDONLY|syscall.O_DIRECTORY)
	if errors.Is(err, syscall.EBADF) {
		file, err = d.take(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE)
	}
	if errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EOPNOTSUPP) {
		err = errors.Join(errNoLocks, err)
	}
	return file, err
}

// take opens a file of this user and locks it.
func (d directories) take(path string, flags int) (_ *os.File, err error) {
	f, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW, 0o600) //nolint:gosec // The path is made here, or found by its prefix.
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
	if err := d.flock(f); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errTaken
		}
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	if is, err := os.Lstat(path); err != nil || !os.SameFile(is, held) {
		return nil, errTaken
	}
	return f, nil
}

// remove removes a directory with its lock. NFS keeps a file that is open under another name, and with it the directory, so what is left
// then is removed when the lock is closed.
func remove(dir string, lock *os.File) error {
	err := os.RemoveAll(dir)
	if lock == nil {
		return err
	}
	closed := lock.Close()
	if err != nil {
		err = os.RemoveAll(dir)
	}
	return errors.Join(err, closed)
}

// sweep removes the directories that processes of this user have left behind, because they were killed or the machine went down. It
// returns their paths. Those of processes that run are locked, and stay.
func (d directories) sweep() (removed []string, err error) {
	entries, err := os.ReadDir(d.parent)
	if err != nil {
		return nil, fmt.Errorf("look for keys that were left behind: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), directoryPrefix) {
			continue
		}
		dir := filepath.Join(d.parent, entry.Name())
		lock, err := d.lock(dir)
		if err != nil {
			continue // It is of somebody else, or of a process that runs.
		}
		if err := remove(dir, lock); err != nil {
			errs = append(errs, fmt.Errorf("remove keys that were left behind: %w", err))
			continue
		}
		removed = append(removed, dir)
	}
	return removed, errors.Join(errs...)
}
