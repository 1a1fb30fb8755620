// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

// TestSnapshotNotFound names a snapshot that is not where the command looks: in the directory of a server that has its data elsewhere.
func TestSnapshotNotFound(t *testing.T) {
	t.Parallel()
	elsewhere := filepath.Join(t.TempDir(), "data")
	id, err := identity.Ensure(elsewhere, identity.Names{}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	if err := id.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.EnsureKey(elsewhere); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"Verify":  {"snapshot", "verify", "snapshot-1", "--data-dir", elsewhere},
		"Restore": {"snapshot", "restore", "snapshot-1", "--data-dir", filepath.Join(t.TempDir(), "new"), "--from", elsewhere, "--key", filepath.Join(elsewhere, backup.KeyFile)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newWorld().run(t, args...)
			for _, want := range []string{"there is no such snapshot", elsewhere, "Hint: say with --from or --config where the snapshots are"} {
				if r.status != 1 || !strings.Contains(r.errors, want) {
					t.Errorf("The error says where was looked, and how to look elsewhere.\n%q: status %d\n%s\nwant %q in it", args, r.status, r.errors, want)
				}
			}
		})
	}
}
