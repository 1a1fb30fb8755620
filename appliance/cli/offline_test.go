// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// stopped returns a world on the machine of a server that does not run: it has its data and its port in its configuration, and another
// process has taken the port.
func stopped(t *testing.T) (w *world, dataDir string) {
	t.Helper()
	dataDir = filepath.Join(t.TempDir(), "elsewhere")
	id, err := identity.Ensure(dataDir, identity.Names{}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	if err := id.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dataDir, 0o755); err != nil { // The doctor is to find it.
		t.Fatal(err)
	}
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	w = newWorld()
	w.configDir = t.TempDir()
	w.names[taken.Addr().String()] = "<taken>"
	config := serverHeader + "dataDir: " + dataDir + "\nlisten: " + taken.Addr().String() + "\n"
	if err := os.WriteFile(filepath.Join(w.configDir, "server.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return w, dataDir
}

// TestOffline examines a server whose data and port are where its configuration says.
func TestOffline(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, args string
		want         []string
		not          string
	}{
		"Doctor": {
			"the configuration says where it is", "doctor --offline", []string{"id:  port\n", "id:  data-directory-mode\n"}, "",
		},
		"Named": {
			"the same directory has the same port", "doctor --offline --data-dir DATA/", []string{"id:  port\n", "id:  data-directory-mode\n"}, "",
		},
		"Other port": {
			"a flag counts more", "doctor --offline --listen 127.0.0.1:0", []string{"id:  data-directory-mode\n"}, "id:  port\n",
		},
		"Other directory": {
			"the port is not that of another server", "doctor --offline --data-dir DATA/pki", nil, "<taken>",
		},
		"Certificates": {"so do certificates", "certificate check --offline", []string{"service-account"}, "Error"},
		"Renewal":      {"and their renewal", "certificate rotate --offline", []string{"serving"}, "Error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, dataDir := stopped(t)
			r := w.run(t, strings.Fields(strings.ReplaceAll(tc.args, "DATA", dataDir))...)
			text := r.out + r.errors
			for value, stands := range w.names {
				text = strings.ReplaceAll(text, value, stands)
			}
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s\nterrarium %s says\n%s\nwant %q", tc.reason, tc.args, text, want)
				}
			}
			if tc.not != "" && strings.Contains(text, tc.not) {
				t.Errorf("%s\nterrarium %s says\n%s\nand %q among it", tc.reason, tc.args, text, tc.not)
			}
		})
	}
}

// TestOfflineBroken has a configuration that cannot be read.
func TestOfflineBroken(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.configDir = t.TempDir()
	if err := os.WriteFile(filepath.Join(w.configDir, "server.yaml"), []byte(serverHeader+"dataDi: /srv\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.run(t, "certificate", "rotate", "--offline"); r.status != 1 || !strings.Contains(r.errors, "dataDi") || !strings.Contains(r.errors, "Hint: say with --data-dir") {
		t.Errorf("Nothing is changed in a directory that was guessed.\nstatus = %d, %s", r.status, r.errors)
	}
	if r := w.run(t, "doctor", "--offline"); !strings.Contains(r.errors, "Warning: ") || !strings.Contains(r.errors, "dataDi") {
		t.Errorf("A doctor has to work then.\nstatus = %d, %s", r.status, r.errors)
	}
}

// TestListenOfServerThatRuns asks a server that examines itself.
func TestListenOfServerThatRuns(t *testing.T) {
	t.Parallel()
	kubeconfig := kubeconfigFor(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]any{"severity": "ok"})
	}))
	for args, want := range map[string]bool{"": false, "--listen :7443": true} {
		r := newWorld().run(t, append([]string{"doctor", "--kubeconfig", kubeconfig}, strings.Fields(args)...)...)
		if got := strings.Contains(r.errors, "Warning: --listen has no effect"); r.status != 0 || got != want {
			t.Errorf("terrarium doctor %s: status %d, %s, want a warning: %t", args, r.status, r.errors, want)
		}
	}
}
