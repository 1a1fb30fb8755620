// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"filippo.io/age"

	"github.com/terrarium-garden/terrarium/storage/backup"
)

// TestSecretsInFiles has commands write secrets into files, which no one else can read and which did not exist.
func TestSecretsInFiles(t *testing.T) {
	t.Parallel()
	dataDir := t.TempDir()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dataDir, backup.KeyFile), []byte(key.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := startGarden(t)
	for name, tc := range map[string]struct {
		reason string
		world  *world
		args   []string
		want   string
	}{
		"Key":     {"the key of snapshots is kept elsewhere", newWorld(), []string{"snapshot", "key", "--data-dir", dataDir}, key.String() + "\n"},
		"Token":   {"a chart takes a token from a file", g.world(), []string{"token", "create", "--data-dir", g.Dir, "--print", "token"}, "T10" + g.Authorities.CAHash()},
		"Command": {"so may a person take a command", g.world(), []string{"token", "create", "--data-dir", g.Dir}, "terrarium gardenlet join"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "secret")
			args := append(tc.args, "--file", path)
			r := tc.world.run(t, args...)
			if r.status != 0 || r.out != "" {
				t.Fatalf("%s\nstatus = %d, output = %q, errors = %q", tc.reason, r.status, r.out, r.errors)
			}
			if text := checkFile(t, path); !strings.HasPrefix(string(text), tc.want) {
				t.Errorf("%s\nfile = %q, want %q", tc.reason, text, tc.want)
			}
			if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			r = tc.world.run(t, args...)
			if text := checkFile(t, path); r.status != 1 || string(text) != "mine" || !strings.Contains(r.errors, "exists already") {
				t.Errorf("A file that exists stays.\nstatus = %d, file = %q, errors = %q", r.status, text, r.errors)
			}
		})
	}
	t.Cleanup(func() {
		if len(g.secrets) != 2 {
			t.Errorf("No token is made that nobody gets.\nsecrets = %v", g.secrets)
		}
	})
}

// TestSupportBundleFile writes what a server makes, or fails to.
func TestSupportBundleFile(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	var broken atomic.Bool
	kubeconfig := kubeconfigFor(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		if broken.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte("bundle"))
	}))
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	args := []string{"support-bundle", "--kubeconfig", kubeconfig, "--file", path}
	broken.Store(true)
	if r := newWorld().run(t, args...); r.status != 1 {
		t.Errorf("status = %d, %s", r.status, r.errors)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("A file that was not written to its end is left behind: %v", err)
	}
	broken.Store(false)
	if r := newWorld().run(t, args...); r.status != 0 {
		t.Errorf("status = %d, %s", r.status, r.errors)
	}
	if text := checkFile(t, path); string(text) != "bundle" {
		t.Errorf("file = %q", text)
	}
	before := asked.Load()
	if r := newWorld().run(t, args...); r.status != 1 || !strings.Contains(r.errors, "exists already") || asked.Load() != before {
		t.Errorf("The server is not asked for what cannot be written.\nstatus = %d after %d requests, %s", r.status, asked.Load()-before, r.errors)
	}
	if r := newWorld().run(t, "support-bundle", "--kubeconfig", kubeconfig, "--file", "-"); r.status != 0 || r.out != "bundle" {
		t.Errorf("It can be piped.\nstatus = %d, output = %q", r.status, r.out)
	}
}
