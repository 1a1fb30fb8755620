// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/install"
)

// on returns a world on a machine with the given user, with systemd or without.
func on(t *testing.T, userID int, systemd bool) *world {
	t.Helper()
	w := newWorld()
	root := t.TempDir()
	if systemd {
		if err := os.MkdirAll(filepath.Join(root, "run/systemd/system"), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	w.machine = &install.Machine{
		Root: root, UserID: userID,
		Run:     func(context.Context, string, ...string) (string, error) { return "", nil },
		GroupID: func(string) (int, error) { return 0, errors.New("unknown group") },
		Own:     func(string, int) error { return nil },
	}
	return w
}

func TestInstall(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		world  *world
		stdin  string
		args   string
		status int
		want   []string
	}{
		"Not root": {
			reason: "a user is told what to do", world: on(t, 1000, true), args: "install server --start", status: 1,
			want: []string{"requires root", "Hint: run it with sudo", "install server --dry-run"},
		},
		"No systemd": {
			reason: "so is one without systemd", world: on(t, 0, false), args: "install server", status: 1,
			want: []string{"does not run systemd", "container image"},
		},
		"Dry run": {
			reason: "everybody may look", world: on(t, 1000, false), args: "install server --dry-run --start --listen :7443 --external-address garden.example.org",
			want: []string{
				"### /etc/terrarium/server.yaml", "listen: :7443", "- garden.example.org", "### /usr/local/lib/systemd/system/terrarium-server.service",
				"ExecStart=/usr/local/bin/terrarium server --config", "$ systemctl enable terrarium-server.service",
			},
		},
		"Prefix of packages": {
			reason: "what packages own is theirs", world: on(t, 0, true), args: "install server --prefix /usr/", status: 1,
			want: []string{"packages of the system install there", "/usr/local"},
		},
		"Wrong address": {
			reason: "what the server would refuse is not installed", world: on(t, 0, true), args: "install server --dry-run --listen here", status: 1,
			want: []string{`listen: "here"`},
		},
		"Wrong role": {
			reason: "a configuration is for one role", world: on(t, 0, true), stdin: serverHeader, args: "install gardenlet --dry-run --config -", status: 1,
			want: []string{`kind "ServerConfiguration" is not "GardenletConfiguration"`},
		},
		"Gardenlet": {
			reason: "a gardenlet gets a service as well", world: on(t, 0, true), args: "install gardenlet --dry-run",
			want: []string{"User=terrarium-gardenlet", "terrarium gardenlet --config /etc/terrarium/gardenlet.yaml"},
		},
		"Root and start": {
			reason: "another system has no services to start", world: on(t, 0, true), args: "install server --root x --start", status: 2,
			want: []string{"--start: cannot be used together with --root"},
		},
		"Purge asks": {
			reason: "data is deleted only after a whole yes", world: on(t, 0, true), stdin: "y\n", args: "uninstall server --purge", status: 1,
			want: []string{"This deletes /etc/terrarium/server.yaml, /etc/terrarium/server.yaml.d, /var/lib/terrarium for good", "nothing was deleted"},
		},
		"Yes without purge": {
			reason: "an answer without a question is a mistake", world: on(t, 0, true), args: "uninstall server --yes", status: 2,
			want: []string{"--yes: only --purge asks"},
		},
		"Uninstall as user": {
			reason: "removing needs root too", world: on(t, 1000, true), args: "uninstall gardenlet", status: 1, want: []string{"requires root"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.world.stdin = tc.stdin
			r := tc.world.run(t, strings.Fields(tc.args)...)
			if r.status != tc.status {
				t.Errorf("%s\nstatus = %d, want %d\n%s", tc.reason, r.status, tc.status, r.errors)
			}
			for _, want := range tc.want {
				if !strings.Contains(r.out+r.errors, want) {
					t.Errorf("%s\n%s%s\nwant it to contain %q", tc.reason, r.out, r.errors, want)
				}
			}
		})
	}
}

// TestInstallForPackage writes the files of a package, which is what scripts/package does.
func TestInstallForPackage(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if r := newWorld().run(t, "install", "server", "--root", root, "--prefix", "/usr"); r.status != 0 {
		t.Fatalf("status = %d, %s", r.status, r.errors)
	}
	var files []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}

		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"etc/terrarium/server.yaml", "usr/bin/terrarium", "usr/lib/systemd/system/terrarium-server.service", "usr/lib/sysusers.d/terrarium-server.conf"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files of the package (-want +got):\n%s", diff)
	}
}

func TestManPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if r := newWorld().run(t, "man-pages", dir); r.status != 0 {
		t.Fatalf("status = %d, %s", r.status, r.errors)
	}
	for _, page := range []string{"terrarium.1", "terrarium-server.1", "terrarium-gardenlet-join.1"} {
		if data, err := os.ReadFile(filepath.Join(dir, page)); err != nil || !strings.Contains(string(data), ".SH SYNOPSIS") {
			t.Errorf("manual page %s: %v\n%s", page, err, data)
		}
	}
}
