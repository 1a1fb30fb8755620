// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

// realDir returns a new folder by its path without symbolic links.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestResolveStateDir(t *testing.T) {
	t.Parallel()
	root := realDir(t)
	disk := filepath.Join(root, "disk")
	if err := os.MkdirAll(filepath.Join(disk, "seed"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "disk", "seed": "disk/seed"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct{ reason, dir, want string }{
		"real":         {"A path without links is kept.", "disk/seed", "disk/seed"},
		"link":         {"A folder that is a link is the folder behind it.", "seed", "disk/seed"},
		"parent":       {"A folder may also be behind a link.", "link/seed", "disk/seed"},
		"missing":      {"A folder that does not exist yet may have a parent that is a link.", "link/new", "disk/new"},
		"deep missing": {"Several parents may be missing.", "link/new/deep/seed", "disk/new/deep/seed"},
		"dots":         {"Superfluous elements are removed.", "disk/../link/./new", "disk/new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := cluster.ResolveStateDir(root + "/" + tc.dir)
			if diff := cmp.Diff(filepath.Join(root, tc.want), got); err != nil || diff != "" {
				t.Errorf("%s\nResolveStateDir(%q) = error %v (-want +got):\n%s", tc.reason, tc.dir, err, diff)
			}
		})
	}
}
