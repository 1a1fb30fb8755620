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

// with returns a world on a machine with the given user and configuration files of a server.
func with(t *testing.T, userID int, etc map[string]string) *world {
	t.Helper()
	w := on(t, userID, true)
	for name, content := range etc {
		path := filepath.Join(w.machine.Root, "etc/terrarium", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(serverHeader+content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(w.machine.Root, "srv/garden"), 0o750); err != nil {
		t.Fatal(err)
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
		"Other address": {
			reason: "a wish that has no effect is not swallowed", world: with(t, 0, map[string]string{"server.yaml": "listen: :7443\n"}),
			args: "install server --listen :8443 --external-address garden.example.org", status: 1,
			want: []string{
				`--listen: the machine has a configuration, which is kept, with ":7443" instead of ":8443"; edit /etc/terrarium/server.yaml`,
				`--external-address: the machine has a configuration, which is kept, with [] instead of ["garden.example.org"]`, "Hint: edit",
			},
		},
		"Address of a drop-in": {
			reason: "the file to edit is the one that counts", args: "install server --dry-run --listen :8443", status: 1,
			world: with(t, 1000, map[string]string{"server.yaml.d/10-port.yaml": "listen: :7443\n"}),
			want:  []string{"edit /etc/terrarium/server.yaml.d/10-port.yaml"},
		},
		"Same address": {
			reason: "the same flags are possible after an upgrade", args: "install server --dry-run --listen :6443 --external-address garden.example.org",
			world: with(t, 1000, map[string]string{"server.yaml": "logLevel: debug\nexternalAddresses: [garden.example.org]\n"}),
			want:  []string{"(exists and is kept)"},
		},
		"New file beside a drop-in": {
			reason: "what nobody has said is written", args: "install server --dry-run --listen :8443",
			world: with(t, 1000, map[string]string{"server.yaml.d/10-log.yaml": "logLevel: debug\n"}), want: []string{"listen: :8443"},
		},
		"Other file": {
			reason: "a file is not swallowed either", world: with(t, 0, map[string]string{"server.yaml": "listen: :7443\n"}),
			stdin: serverHeader, args: "install server --config -", status: 1,
			want: []string{"--config: /etc/terrarium/server.yaml exists and has another content, and it is kept"},
		},
		"Same file": {
			reason: "comments and order do not count", world: with(t, 1000, map[string]string{"server.yaml": "# mine\nlisten: :7443\n"}),
			stdin: "listen: :7443\n" + serverHeader, args: "install server --dry-run --config -", want: []string{"(exists and is kept)"},
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
			reason: "removing needs root too", world: on(t, 1000, true), args: "uninstall gardenlet", status: 1,
			want: []string{"requires root", `"terrarium uninstall gardenlet --dry-run" prints`},
		},
		"Uninstall, dry run": {
			reason: "everybody may look", args: "uninstall server --dry-run",
			world: with(t, 1000, map[string]string{"server.yaml": "listen: :7443\n"}), want: []string{"keep /etc/terrarium/server.yaml\n"},
		},
		"Purge, dry run": {
			reason: "nothing is asked if nothing is deleted", args: "uninstall server --purge --dry-run",
			world: with(t, 1000, map[string]string{"server.yaml": "dataDir: /srv/garden\n", "server.yaml.d/10-log.yaml": "logLevel: debug\n"}),
			want: []string{
				"delete /etc/terrarium/server.yaml for good\ndelete /etc/terrarium/server.yaml.d for good\n",
				"keep /srv/garden, the data directory in the configuration\n",
			},
		},
		"Purge with data elsewhere": {
			reason: "what stays is said before and after it", args: "uninstall server --purge", stdin: "yes\n",
			world: with(t, 0, map[string]string{"server.yaml.d/10-data.yaml": "dataDir: /srv/garden\n"}),
			want:  []string{"/srv/garden, the data directory in the configuration, stays.", "removed /etc/terrarium/server.yaml.d\n", "kept /srv/garden, the data directory in the configuration\n"},
		},
		"Purge of a broken configuration": {
			reason: "it does not prevent the removal", args: "uninstall server --purge --yes",
			world: with(t, 0, map[string]string{"server.yaml": "dataDi: /srv/garden\n"}),
			want:  []string{"Warning: where the data directory is, is not known", "removed /etc/terrarium/server.yaml\n"},
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
