// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestCommandsOfRoot runs commands as root on the data directory of a service that is another user. The service can read all of it
// afterwards.
func TestCommandsOfRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can work on the data directory of another user")
	}
	const service = 65534
	g := harness.Start(t)
	g.Stop(t)
	dir := g.DataDir
	// A directory that was just restored has no locks.
	for _, name := range []string{"objects.db-lock", "events.db-lock"} {
		if err := os.Remove(filepath.Join(dir, "db", name)); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, service, service))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{
		{"doctor", "--offline"},
		{"certificate", "check", "--offline"},
		{"certificate", "rotate", "--offline"},
		{"bundle", "export", filepath.Join(t.TempDir(), "bundle")},
	} {
		status, out, errs := terrarium(t, append(command, "--data-dir", dir)...)
		if status != 0 && command[0] != "doctor" {
			t.Errorf("%v: status %d\n%s%s", command, status, out, errs)
		}
		var ofRoot []string
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if is, ok := info.Sys().(*syscall.Stat_t); !ok || is.Uid != service {
				ofRoot = append(ofRoot, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string(nil), ofRoot); diff != "" {
			t.Errorf("%v leaves files of root (-want +got):\n%s", command, diff)
		}
	}
}
