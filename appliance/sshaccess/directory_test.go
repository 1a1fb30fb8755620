// SPDX-License-Identifier: Apache-2.0

package sshaccess

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSweep has a machine with what a process has left that was killed, beside what is of others.
func TestSweep(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
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
	used, lock, err := newDirectory(parent)
	if err != nil {
		t.Fatal(err)
	}
	sweepWants := func(want ...string) {
		t.Helper()
		got, err := sweep(parent)
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
