// SPDX-License-Identifier: Apache-2.0

package sshaccess

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// likeNFS locks what is open for writing only, as NFS does.
func likeNFS(file *os.File) error {
	flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	if flags&unix.O_ACCMODE == unix.O_RDONLY {
		return syscall.EBADF
	}
	return flock(file)
}

// TestSweep has a machine with what a process has left that was killed, beside what is of others.
func TestSweep(t *testing.T) {
	t.Parallel()
	for name, lock := range map[string]func(*os.File) error{"directories can be locked": flock, "NFS": likeNFS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sweeps(t, directories{parent: t.TempDir(), flock: lock})
		})
	}
}

// TestWithoutLocks: who cannot lock leaves what may be in use.
func TestWithoutLocks(t *testing.T) {
	t.Parallel()
	d := directories{parent: t.TempDir(), flock: func(*os.File) error { return syscall.ENOLCK }}
	dir, lock, err := d.create()
	if err != nil || lock != nil {
		t.Fatalf("create() = %q, %v, %v, want a directory without a lock", dir, lock, err)
	}
	if removed, err := d.sweep(); err != nil || len(removed) > 0 {
		t.Errorf("sweep() = %q, %v, want nothing", removed, err)
	}
	if err := remove(dir, lock); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
}

func sweeps(t *testing.T, d directories) {
	t.Helper()
	parent := d.parent
	victim := filepath.Join(t.TempDir(), "victim")
	left := filepath.Join(parent, directoryPrefix+"left")
	for _, dir := range []string{victim, left, filepath.Join(parent, "other")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "node.key"), []byte("key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(victim, filepath.Join(parent, directoryPrefix+"link")); err != nil {
		t.Fatal(err)
	}
	used, lock, err := d.create()
	if err != nil {
		t.Fatal(err)
	}
	sweepWants := func(want ...string) {
		t.Helper()
		got, err := d.sweep()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sweep(...) (-want +got):\n%s", diff)
		}
		for _, dir := range want {
			if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still there: %v", dir, err)
			}
		}
	}
	sweepWants(left)
	for _, path := range []string{used, filepath.Join(victim, "node.key"), filepath.Join(parent, "other", "node.key")} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("What is in use or of others stays: %v", err)
		}
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	sweepWants(used) // Its process has ended.
}
