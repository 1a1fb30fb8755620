// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// asideInfix is between the name of a data directory and the time at which it was moved aside.
const asideInfix = ".before-"

// markFile is in a new directory until it is in its place.
const markFile = ".restoring"

// place is where a data directory is put.
type place struct {
	dir    string
	force  bool
	exists bool
	full   bool
	uid    int
	gid    int
	// done says that the directory was moved into place.
	done bool
	// exchange gives two directories the names of each other.
	exchange func(one, other string) error
}

func newPlace(dir string, force bool) place {
	return place{dir: dir, force: force, exchange: func(one, other string) error {
		return unix.Renameat2(unix.AT_FDCWD, one, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE)
	}}
}

// claim looks at what is there, and locks it against a server.
func (p *place) claim(lock func(string) (func() error, error)) (release func() error, err error) {
	p.uid, p.gid = -1, -1
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look into data directory: %w", err)
	}
	p.exists, p.full = true, len(entries) > 0
	if info, err := os.Stat(p.dir); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok {
			p.uid, p.gid = int(owner.Uid), int(owner.Gid)
		}
	}
	if !p.full {
		return func() error { return nil }, nil
	}
	// A server that runs is the first thing to say.
	if release, err = lock(p.dir); err != nil {
		return nil, err
	}
	if !p.force {
		return nil, errors.Join(fmt.Errorf("data directory %q: %w", p.dir, ErrNotEmpty), release())
	}

	return release, nil
}

// stage makes the directory that is filled, beside the one that it becomes, and removes what a restore has left that was killed.
func (p *place) stage() (string, error) {
	parent, name := filepath.Split(p.dir)
	if err := os.MkdirAll(parent, 0o755); err != nil { //nolint:gosec // It is not the data directory.
		return "", fmt.Errorf("make parent of data directory: %w", err)
	}
	left, err := Leftovers(p.dir)
	if err != nil {
		return "", err
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			return "", fmt.Errorf("remove leftover: %w", err)
		}
	}
	stage, err := os.MkdirTemp(parent, stageName(name))
	if err != nil {
		return "", fmt.Errorf("make staging directory: %w", err)
	}

	return stage, nil
}

// stageName begins the names of the staging directories of a data directory.
func stageName(name string) string { return "." + name + ".restore-" }

// Leftovers returns the directories that restores of a data directory have left that were killed. The one of a restore that runs is
// among them. They have keys of the garden.
func Leftovers(dir string) ([]string, error) {
	parent, name := filepath.Split(dir)
	left, err := filepath.Glob(filepath.Join(parent, stageName(name)+"*"))
	if err != nil {
		return nil, fmt.Errorf("look for leftovers: %w", err)
	}
	// One that was killed just before the exchange has left its directory under the name of what it would have moved aside.
	named, err := filepath.Glob(filepath.Join(dir+asideInfix+"*", markFile))
	if err != nil {
		return nil, fmt.Errorf("look for leftovers: %w", err)
	}
	for _, mark := range named {
		left = append(left, filepath.Dir(mark))
	}

	return left, nil
}

// put moves the staging directory into place in one step. What was there is moved aside.
func (p *place) put(stage string, now time.Time) (aside string, err error) {
	if err := p.own(stage); err != nil {
		return "", err
	}
	if !p.full {
		return "", p.moved(os.Rename(stage, p.dir))
	}
	aside = p.dir + asideInfix + now.UTC().Format(timeForm)
	if _, err := os.Lstat(aside); err == nil {
		return "", fmt.Errorf("%q exists already: try again in a second", aside)
	}
	if err := p.mark(stage); err != nil {
		return "", err
	}
	// What was there must never have the name of a staging directory: the next restore would remove it after a crash.
	if err := os.Rename(stage, aside); err != nil {
		return "", fmt.Errorf("rename staging directory: %w", err)
	}
	err = syncDirectory(filepath.Dir(p.dir))
	if err == nil {
		err = p.moved(p.exchange(aside, p.dir))
	}
	if !p.done {
		return "", errors.Join(err, os.RemoveAll(aside))
	}

	return aside, errors.Join(err, unmark(p.dir))
}

// mark marks the new directory. What it replaces must have no mark, as one that was killed right after the exchange may have left:
// it would be taken for a leftover.
func (p *place) mark(stage string) error {
	if err := unmark(p.dir); err != nil {
		return err
	}

	return writeText(filepath.Join(stage, markFile), nil)
}

func unmark(dir string) error {
	err := os.Remove(filepath.Join(dir, markFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("complete restore: %w", err)
	}

	return syncDirectory(dir)
}

// moved explains the error of a rename.
func (p *place) moved(err error) error {
	if errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) {
		return fmt.Errorf("data directory %q is where a file system is mounted, and cannot be replaced in one step: restore into a directory in it, and use that one: %w", p.dir, err)
	}
	if err != nil {
		return fmt.Errorf("put data directory into place: %w", err)
	}
	p.done = true

	return syncDirectory(filepath.Dir(p.dir))
}

// own gives what was made to the owner of the directory that it replaces.
func (p *place) own(stage string) error {
	if p.uid < 0 || p.uid == os.Geteuid() && p.gid == os.Getegid() {
		return nil
	}

	return filepath.WalkDir(stage, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, p.uid, p.gid) //nolint:gosec // Nobody else can write to the new directory.
		}

		return err
	})
}

// syncTree puts all files below a directory on the disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		return syncDirectory(path)
	})
}
