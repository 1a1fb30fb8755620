// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// stranger is a user who is not root.
const stranger = 65534

// serviceDirectory is the data directory of a service that runs as another user, on which root works.
func serviceDirectory(t *testing.T) world {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can work on the data directory of another user")
	}
	w := newWorld(t)
	w.ensure(t, names())
	err := filepath.WalkDir(w.dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, stranger, stranger))
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// ofRoot lists what the service could not read.
func ofRoot(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if is, ok := info.Sys().(*syscall.Stat_t); !ok || is.Uid != stranger || is.Gid != stranger {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestRootLeavesDirectoryToItsOwner(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reason string
		work   func(w world) error
	}{
		"Lock": {
			reason: "The service locks the same file.",
			work: func(w world) error {
				if err := os.Remove(w.path("lock")); err != nil {
					return err
				}
				lock, err := identity.LockDirectory(w.dir)
				if err != nil {
					return err
				}
				return lock.Release()
			},
		},
		"Left by root": {
			reason: "A lock file that root has left is given back.",
			work: func(w world) error {
				if err := os.Chown(w.path("lock"), 0, 0); err != nil {
					return err
				}
				lock, err := identity.LockDirectory(w.dir)
				if err != nil {
					return err
				}
				return lock.Release()
			},
		},
		"Place": {
			reason: "Each start reads where the objects are.",
			work:   func(w world) error { return identity.SetDatastorePlace(w.dir, "postgres://db") },
		},
		"Publication": {
			reason: "So does it which keys are published.",
			work:   func(w world) error { return identity.AllowPublication(w.dir) },
		},
		"Renewal": {
			reason: "Certificates and the kubeconfig are renewed for the service.",
			work: func(w world) error {
				_, err := identity.RenewDirectory(w.dir, w.clk)
				return err
			},
		},
		"Export": {
			reason: "An export makes the key that seals the others.",
			work: func(w world) error {
				_, err := identity.Shared(w.dir)
				return err
			},
		},
		"Import": {
			reason: "Imported keys replace those of the service.",
			work: func(w world) error {
				files, err := identity.Shared(w.dir)
				if err != nil {
					return err
				}
				_, err = identity.Adopt(w.dir, files, true, w.clk)
				return err
			},
		},
		"Databases": {
			reason: "Databases that root has copied are given to the service.",
			work: func(w world) error {
				err := os.MkdirAll(w.path("db", "more"), 0o700)
				err = errors.Join(err, os.WriteFile(w.path("db", "objects.db"), nil, 0o600), os.WriteFile(w.path("db", "more", "x"), nil, 0o600))
				return errors.Join(err, identity.GiveToOwner(w.dir, "missing", "db"))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serviceDirectory(t)
			if err := tc.work(w); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string(nil), ofRoot(t, w.dir)); diff != "" {
				t.Errorf("%s\nfiles of root (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRootGivesNothingElseAway has the owner of the directory try to get files of root.
func TestRootGivesNothingElseAway(t *testing.T) {
	t.Parallel()
	w := serviceDirectory(t)
	outside := filepath.Join(t.TempDir(), "of-root")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outside, "secret")
	write(t, secret, []byte("of root"))
	db := w.path("db")
	err := errors.Join(os.Mkdir(db, 0o700), os.Symlink(secret, filepath.Join(db, "link")), os.Link(secret, filepath.Join(db, "second-name")),
		os.Symlink(outside, filepath.Join(db, "directory")), os.Symlink(outside, w.path("elsewhere")))
	if err != nil {
		t.Fatal(err)
	}
	if err := identity.GiveToOwner(w.dir, "db", "elsewhere"); err != nil {
		t.Errorf("GiveToOwner(...) = %v", err)
	}
	for _, path := range []string{outside, secret} {
		if !rootOwns(t, path) {
			t.Errorf("%q was given away", path)
		}
	}

	if err := errors.Join(os.Remove(w.path("lock")), os.Symlink(secret, w.path("lock"))); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.LockDirectory(w.dir); err == nil {
		t.Error("a lock that is a link was taken")
	}
	if got := string(read(t, secret)); got != "of root" {
		t.Errorf("The target of a link is not written.\ngot %q", got)
	}
	if err := errors.Join(os.Remove(w.path("lock")), os.Link(secret, w.path("lock"))); err != nil {
		t.Fatal(err)
	}
	lock, err := identity.LockDirectory(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if !rootOwns(t, secret) {
		t.Error("A lock that is a second name of a file gives the file away.")
	}
}

func rootOwns(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	return ok && is.Uid == 0
}
