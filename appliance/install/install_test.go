// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terrarium-garden/terrarium/appliance/install"
	"github.com/terrarium-garden/terrarium/packaging/systemd"
)

const (
	configPath = "/etc/terrarium/server.yaml"
	unitPath   = "/usr/local/lib/systemd/system/terrarium-server.service"
	usersPath  = "/usr/local/lib/sysusers.d/terrarium-server.conf"
	program    = "/usr/local/bin/terrarium"
)

// host is a machine below a folder, whose commands are recorded.
type host struct {
	install.Machine

	root     string
	commands []string
	told     []string
	state    string
	details  string
	groups   map[string]int
	missing  map[string]bool
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{root: t.TempDir(), state: "inactive", groups: map[string]int{}, missing: map[string]bool{}}
	h.put(t, "/run/systemd/system/.there", "")
	h.Machine = install.Machine{
		Root: h.root,
		Run: func(_ context.Context, name string, args ...string) (string, error) {
			if h.missing[name] {
				return "", exec.ErrNotFound
			}
			line := strings.Join(append([]string{name}, args...), " ")
			if strings.Contains(line, "MainPID") {
				return h.details, nil
			}
			if strings.HasPrefix(line, "systemctl show") {
				return h.state + "\n", nil
			}
			h.commands = append(h.commands, line)
			switch {
			case name == "systemd-sysusers", name == "useradd":
				h.groups["terrarium"] = 990
			case strings.HasPrefix(line, "systemctl start"), strings.HasPrefix(line, "systemctl restart"):
				h.state = "active"
			}
			return "", nil
		},
		GroupID: func(name string) (int, error) {
			if id, found := h.groups[name]; found {
				return id, nil
			}
			return 0, errors.New("unknown group")
		},
		Own: func(string, int) error { return nil },
	}
	return h
}

func (h *host) put(t *testing.T, path, content string) {
	t.Helper()
	full := filepath.Join(h.root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree lists the files with their modes.
func (h *host) tree(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(h.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".there") {
			return err
		}
		info, err := entry.Info()
		found[strings.TrimPrefix(path, h.root)] = info.Mode().String()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func (h *host) read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// take returns the commands since the last call.
func (h *host) take() []string {
	commands := h.commands
	h.commands = nil
	return commands
}

func (h *host) apply(t *testing.T, o install.Options) {
	t.Helper()
	h.told = nil
	if err := install.Apply(t.Context(), h.Machine, o, func(line string) { h.told = append(h.told, line) }); err != nil {
		t.Fatalf("Apply(...) = %v", err)
	}
}

func serverOptions(t *testing.T, programText string) install.Options {
	t.Helper()
	source := filepath.Join(t.TempDir(), "terrarium")
	if err := os.WriteFile(source, []byte(programText), 0o600); err != nil {
		t.Fatal(err)
	}
	return install.Options{
		Service: systemd.Server(), Prefix: install.DefaultPrefix, Program: source, Start: true,
		Configuration: []install.ConfigFile{{Path: configPath, Content: []byte("fresh")}},
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.apply(t, serverOptions(t, "one"))
	want := map[string]string{configPath: "-rw-r-----", unitPath: "-rw-r--r--", usersPath: "-rw-r--r--", program: "-rwxr-xr-x"}
	if diff := cmp.Diff(want, h.tree(t)); diff != "" {
		t.Errorf("the first time, everything is written (-want +got):\n%s", diff)
	}
	commands := []string{
		"systemd-sysusers " + usersPath, "systemctl daemon-reload", "systemctl enable terrarium-server.service", "systemctl start terrarium-server.service",
	}
	if diff := cmp.Diff(commands, h.take()); diff != "" {
		t.Errorf("the user is created before files belong to it, and the service is started last (-want +got):\n%s", diff)
	}

	h.put(t, configPath, "edited")
	same := serverOptions(t, "one")
	h.apply(t, same)
	if diff := cmp.Diff([]string{"systemctl enable terrarium-server.service"}, h.take()); diff != "" {
		t.Errorf("a second time changes nothing and does not restart the service (-want +got):\n%s", diff)
	}

	h.apply(t, serverOptions(t, "two"))
	if got := h.read(t, program); got != "two" {
		t.Errorf("an upgrade replaces the program, got %q", got)
	}
	if got := h.read(t, configPath); got != "edited" {
		t.Errorf("an upgrade keeps the configuration, got %q", got)
	}
	if got := h.take(); !cmp.Equal(got[len(got)-1], "systemctl restart terrarium-server.service") {
		t.Errorf("an upgrade restarts the service, got %q", got)
	}

	waiting := serverOptions(t, "three")
	waiting.Start = false
	h.apply(t, waiting)
	if got := strings.Join(h.take(), "\n") + strings.Join(h.told, "\n"); strings.Contains(got, "restarted") || !strings.Contains(got, "restart it with") {
		t.Errorf("without Start, a running service is not restarted, but told about; got %q", got)
	}
}

// TestApplyAfterInterruption runs Apply once more after a run that has written the files and restarted nothing.
func TestApplyAfterInterruption(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		details, program string
		restarts         bool
	}{
		"it runs as installed":       {details: "NeedDaemonReload=no\nMainPID=7\n", program: program},
		"the unit is newer":          {details: "NeedDaemonReload=yes\nMainPID=7\n", program: program, restarts: true},
		"the program was replaced":   {details: "NeedDaemonReload=no\nMainPID=7\n", program: program + " (deleted)", restarts: true},
		"another process has exited": {details: "NeedDaemonReload=no\nMainPID=0\n", program: program + " (deleted)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.apply(t, serverOptions(t, "one"))
			h.take()
			h.details = tc.details
			h.put(t, "/proc/7/there", "")
			if err := os.Symlink(tc.program, filepath.Join(h.root, "proc/7/exe")); err != nil {
				t.Fatal(err)
			}
			h.apply(t, serverOptions(t, "one"))
			want := []string{"systemctl enable terrarium-server.service"}
			if tc.restarts {
				want = []string{"systemctl daemon-reload", want[0], "systemctl restart terrarium-server.service"}
			}
			if diff := cmp.Diff(want, h.take()); diff != "" {
				t.Errorf("commands of the second run (-want +got):\n%s", diff)
			}
		})
	}
}

func TestApplyWithoutSysusers(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.missing["systemd-sysusers"] = true
	h.apply(t, serverOptions(t, "one"))
	if got := h.take()[0]; !strings.HasPrefix(got, "useradd --system ") {
		t.Errorf("a system without sysusers has useradd, got %q", got)
	}
}

func TestApplyPackaged(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.groups["terrarium"] = 990
	h.put(t, "/usr/lib/systemd/system/terrarium-server.service", "")
	h.apply(t, serverOptions(t, "one"))
	for _, path := range []string{unitPath, program} {
		if _, found := h.tree(t)[path]; found {
			t.Errorf("%s would shadow that of the package", path)
		}
	}
	if h.state != "active" {
		t.Error("the service of the package is started")
	}
}

func TestApplyElsewhere(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	o := serverOptions(t, "one")
	o.Root, o.Start, o.Prefix = "/stage", false, "/usr"
	h.apply(t, o)
	want := map[string]string{
		"/stage" + configPath: "-rw-r-----", "/stage/usr/bin/terrarium": "-rwxr-xr-x",
		"/stage/usr/lib/systemd/system/terrarium-server.service": "-rw-r--r--", "/stage/usr/lib/sysusers.d/terrarium-server.conf": "-rw-r--r--",
	}
	if diff := cmp.Diff(want, h.tree(t)); diff != "" {
		t.Errorf("files for a package (-want +got):\n%s", diff)
	}
	if got := h.take(); len(got) > 0 {
		t.Errorf("nothing is run for another system, got %q", got)
	}
	if unit := h.read(t, "/stage/usr/lib/systemd/system/terrarium-server.service"); !strings.Contains(unit, "\nExecStart=/usr/bin/terrarium server") {
		t.Errorf("the unit runs the installed program:\n%s", unit)
	}
}

// remove removes the service, and compares what is done with what a dry run has said before.
func (h *host) remove(t *testing.T, r install.Removal) {
	t.Helper()
	before, calls := h.tree(t), len(h.commands)
	var printed bytes.Buffer
	if err := r.Print(&printed, h.Machine); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, h.tree(t)); diff != "" || len(h.commands) > calls {
		t.Errorf("a dry run changes nothing (-want +got):\n%s%q", diff, h.commands[calls:])
	}
	var wantCommands, want, told []string
	for line := range strings.Lines(printed.String()) {
		verb, object, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "$":
			wantCommands = append(wantCommands, object)
		case "remove":
			want = append(want, "removed "+object)
		case "delete":
			want = append(want, "removed "+strings.TrimSuffix(object, " for good"))
		case "keep":
			want = append(want, "kept "+object)
		}
	}
	err := install.Remove(t.Context(), h.Machine, r, func(line string) {
		if verb, object, _ := strings.Cut(line, " "); verb == "kept" || verb == "removed" && !strings.HasPrefix(object, "user ") {
			told = append(told, line)
		}
	})
	if err != nil {
		t.Fatalf("Remove(...) = %v", err)
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("a dry run says which files are removed (-said +done):\n%s", diff)
	}
	if diff := cmp.Diff(wantCommands, h.commands[calls:], cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("a dry run says which commands are run (-said +done):\n%s", diff)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	const data, elsewhere = "/var/lib/terrarium/db/state.db", "/srv/garden"
	remove := func(h *host, purge bool) {
		t.Helper()
		removal := install.Removal{
			Options: install.Options{Service: systemd.Server(), Prefix: install.DefaultPrefix}, Purge: purge, Purged: []string{configPath},
			Data: elsewhere, Others: []systemd.Service{systemd.Gardenlet()},
		}
		h.remove(t, removal)
	}
	h := newHost(t)
	h.apply(t, serverOptions(t, "one"))
	h.put(t, data, "garden")
	h.take()
	remove(h, false)
	if diff := cmp.Diff(map[string]string{configPath: "-rw-r-----", data: "-rw-------"}, h.tree(t)); diff != "" {
		t.Errorf("data and configuration are kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"systemctl disable --now terrarium-server.service", "systemctl daemon-reload"}, h.take()); diff != "" {
		t.Errorf("the service is stopped first (-want +got):\n%s", diff)
	}
	remove(h, true)
	if diff := cmp.Diff(map[string]string{}, h.tree(t)); diff != "" {
		t.Errorf("a purge after the removal leaves nothing (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"userdel terrarium"}, h.take()); diff != "" {
		t.Errorf("a purge removes the user (-want +got):\n%s", diff)
	}

	moved := newHost(t)
	moved.apply(t, serverOptions(t, "one"))
	moved.put(t, elsewhere+"/db/state.db", "garden")
	remove(moved, true)
	if diff := cmp.Diff(map[string]string{elsewhere + "/db/state.db": "-rw-------"}, moved.tree(t)); diff != "" {
		t.Errorf("data elsewhere is never deleted (-want +got):\n%s", diff)
	}

	shared := newHost(t)
	shared.apply(t, serverOptions(t, "one"))
	shared.put(t, "/usr/local/lib/systemd/system/terrarium-gardenlet.service", "")
	remove(shared, false)
	if _, found := shared.tree(t)[program]; !found {
		t.Error("the program is kept while a gardenlet uses it")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	if err := h.Check(); err != nil {
		t.Errorf("Check() = %v", err)
	}
	h.UserID = 1000
	if err := h.Check(); !errors.Is(err, install.ErrNotRoot) {
		t.Errorf("Check() of a user = %v", err)
	}
	if err := (install.Machine{Root: t.TempDir()}).Check(); !errors.Is(err, install.ErrNoSystemd) {
		t.Errorf("Check() without systemd = %v", err)
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	o := serverOptions(t, "one")
	o.Configuration = append(o.Configuration, install.ConfigFile{Path: "/etc/terrarium/seed.kubeconfig", Content: []byte("geheim")})
	before := h.tree(t)
	var out bytes.Buffer
	if err := o.Print(&out, h.Machine); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"### " + unitPath, "NoNewPrivileges=yes", "### " + configPath + " (mode 0640, owner root:terrarium)", "$ systemctl enable"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("a dry run tells everything; %q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "geheim") || strings.Contains(out.String(), "@") && strings.Contains(out.String(), "@HARDENING@") {
		t.Errorf("a dry run prints no secrets and no templates:\n%s", out.String())
	}
	if diff := cmp.Diff(before, h.tree(t)); diff != "" || len(h.commands) > 0 {
		t.Errorf("a dry run changes nothing (-want +got):\n%s%q", diff, h.commands)
	}
}
