// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

func TestEnsureRefusesDirectory(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		dir    func(t *testing.T, w world) string
		is     error
		text   []string
	}{
		"InUse": {
			reason: "Two servers on one database would destroy it; the error says who is there.",
			dir: func(t *testing.T, w world) string {
				t.Helper()
				g, err := identity.Ensure(w.dir, names(), w.clk)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = g.Close() })
				return w.dir
			},
			is: identity.ErrInUse, text: []string{fmt.Sprintf("used by process %d", os.Getpid())},
		},
		"File": {
			reason: "A file in the directory's place is told.",
			dir: func(t *testing.T, w world) string {
				t.Helper()
				write(t, w.dir, []byte("a file"))
				return w.dir
			},
			is: cmpopts.AnyError, text: []string{"is a file, not a directory"},
		},
		"BelowFile": {
			reason: "So is one further up.",
			dir: func(t *testing.T, w world) string {
				t.Helper()
				write(t, w.dir, []byte("a file"))
				return filepath.Join(w.dir, "data")
			},
			is: cmpopts.AnyError, text: []string{"a part of the path is a file"},
		},
		"NotWritable": {
			reason: "Without the right to write there is no start.",
			dir: func(t *testing.T, w world) string {
				t.Helper()
				if os.Getuid() == 0 {
					return "/sys/terrarium" // where even root makes no directories
				}
				if err := os.Mkdir(w.dir, 0o500); err != nil {
					t.Fatal(err)
				}
				return w.dir
			},
			is: identity.ErrNotWritable, text: []string{fmt.Sprintf("as user %d", os.Getuid())},
		},
		"SomebodyElses": {
			reason: "A slip such as --data-dir /tmp must not close a directory that others use.",
			dir: func(t *testing.T, w world) string {
				t.Helper()
				if err := os.Mkdir(w.dir, 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, w.path("letter.txt"), []byte("dear"))
				return w.dir
			},
			is: cmpopts.AnyError, text: []string{"accessible to other users (mode 0755)", "chmod 0700"},
		},
		"NewerLayout": {
			reason: "An older binary must not touch what it does not understand.",
			dir: func(t *testing.T, w world) string {
				t.Helper()
				w.ensure(t, names())
				write(t, w.path("layout"), []byte("3\n"))
				return w.dir
			},
			is: identity.ErrNewerLayout, text: []string{"layout 3", "up to 2"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dir := tc.dir(t, w)
			_, err := identity.Ensure(dir, names(), w.clk)
			if diff := cmp.Diff(tc.is, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nEnsure(...) error (-want +got):\n%s", tc.reason, diff)
			}
			for _, want := range append(tc.text, dir) {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s\nEnsure(...) = %v, want it to contain %q", tc.reason, err, want)
				}
			}
		})
	}
}

func TestEnsureAcceptsDirectory(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		prepare func(t *testing.T, w world) error
	}{
		"Missing": {
			reason:  "The directory is made.",
			prepare: func(*testing.T, world) error { return nil },
		},
		"EmptyAndOpen": {
			reason:  "An empty directory, as systemd makes it, is closed and used.",
			prepare: func(_ *testing.T, w world) error { return os.Mkdir(w.dir, 0o755) },
		},
		"MountPoint": {
			reason: "A fresh file system has a directory of its own.",
			prepare: func(_ *testing.T, w world) error {
				return errors.Join(os.Mkdir(w.dir, 0o755), os.Mkdir(w.path("lost+found"), 0o700))
			},
		},
		"ClosedWithFiles": {
			reason: "What the operator keeps beside it is his own affair.",
			prepare: func(t *testing.T, w world) error {
				t.Helper()
				if err := os.Mkdir(w.dir, 0o700); err != nil {
					return err
				}
				write(t, w.path("notes"), nil)
				return nil
			},
		},
		"Released": {
			reason: "A directory that was given back can be used again.",
			prepare: func(t *testing.T, w world) error {
				t.Helper()
				w.ensure(t, names())
				return nil
			},
		},
		"StaleProcessID": {
			reason: "The lock counts, not the number in the file: a crash leaves the number behind.",
			prepare: func(t *testing.T, w world) error {
				t.Helper()
				w.ensure(t, names())
				write(t, w.path("lock"), []byte("1\n"))
				return nil
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if err := tc.prepare(t, w); err != nil {
				t.Fatal(err)
			}
			g, err := identity.Ensure(w.dir, names(), w.clk)
			if err != nil {
				t.Fatalf("%s\nEnsure(...) = %v", tc.reason, err)
			}
			if diff := cmp.Diff(fmt.Sprintln(os.Getpid()), string(read(t, w.path("lock")))); diff != "" {
				t.Errorf("The lock says whose it is.\nfile (-want +got):\n%s", diff)
			}
			checkModes(t, w.path("pki"))
			if err := g.Close(); err != nil {
				t.Errorf("Close() = %v", err)
			}
		})
	}
}
