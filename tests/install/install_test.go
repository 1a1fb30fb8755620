// SPDX-License-Identifier: Apache-2.0

package install

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	server     = "terrarium-server.service"
	dataDir    = "/var/lib/terrarium"
	configFile = "/etc/terrarium/server.yaml"
	// worstExposure is the highest exposure level that "systemd-analyze security" may find.
	worstExposure = 1.5
)

var (
	system   = flag.String("system", "", "folder with a Debian system with systemd")
	packages = flag.String("packages", "", "folder with the packages of a release")
	newer    = flag.String("newer", "", "folder with the packages of a later release")
)

// TestPackage is the life of a garden that was installed from the Debian package. Its steps build on each other.
//
//nolint:paralleltest // see above
func TestPackage(t *testing.T) {
	requirements(t)
	m := start(t, "garden", server)
	steps := []struct {
		name string
		do   func(t *testing.T, m *machine)
	}{
		{"Install", installPackage},
		{"Hardened", hardened},
		{"Killed", killed},
		{"Hung", hung},
		{"Reboot", rebooted},
		{"Upgrade under load", upgraded},
		{"Remove", removed},
		{"Purge", purged},
		{"Archive", archived},
	}
	for _, step := range steps {
		if !t.Run(step.name, func(t *testing.T) {
			began := time.Now()
			m.t = t
			step.do(t, m)
			t.Logf("took %s", time.Since(began).Round(time.Second/10))
		}) {
			return
		}
	}
}

// requirements skips the test where no machine can be booted.
func requirements(t *testing.T) {
	t.Helper()
	if *packages == "" || *system == "" || *newer == "" {
		t.Skip(`"make test-install" builds the packages and the system for this test`)
	}
	if os.Geteuid() != 0 {
		t.Skip("a container with systemd requires root")
	}
	for _, program := range []string{"systemd-nspawn", "nsenter"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
}

// start boots a machine for a service.
func start(t *testing.T, name, service string) *machine {
	t.Helper()
	m := newMachine(t, *system, name, service)
	for _, folder := range []string{*packages, *newer} {
		out, err := exec.CommandContext(t.Context(), "cp", "--archive", folder, m.path("/root/"+filepath.Base(folder))).CombinedOutput()
		if err != nil {
			t.Fatalf("copy packages: %v\n%s", err, out)
		}
	}
	return m
}

// deb returns the Debian package in a folder, as a path in the machine.
func deb(t *testing.T, folder string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*.deb"))
	if err != nil || len(found) != 1 {
		t.Fatalf("Debian packages in %s: %q, %v", folder, found, err)
	}
	return filepath.Join("/root", filepath.Base(folder), filepath.Base(found[0]))
}

func installPackage(t *testing.T, m *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	m.run("dpkg", "--install", deb(t, *packages))
	if got := m.property("ActiveState"); got != "inactive" {
		t.Errorf("the package serves gardenlets too, so it starts nothing by itself; the server is %s", got)
	}
	if got := strings.TrimSpace(m.run("stat", "--format=%a %U:%G", configFile)); got != "640 root:terrarium" {
		t.Errorf("the configuration may have a password; it is %s", got)
	}
	m.run("systemctl", "enable", "--now", m.service)
	if err := m.ready(); err != nil {
		t.Errorf("systemctl returns when the garden is ready: %v", err)
	}
	if got := m.property("StatusText"); !strings.HasPrefix(got, "Garden ready at https://") {
		t.Errorf("systemctl status tells the state of the garden; got %q", got)
	}
	if err := m.put("first"); err != nil {
		t.Fatal(err)
	}
	m.run("terrarium", "config", "validate")
	if got := m.run("terrarium", "token", "create"); !strings.Contains(got, "T10") {
		t.Errorf("the operator creates a join token; got %q", got)
	}
}

func hardened(t *testing.T, m *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	report := m.run("systemd-analyze", "security", m.service)
	found := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`).FindStringSubmatch(report)
	if found == nil {
		t.Fatalf("no exposure level in\n%s", report)
	}
	level, err := strconv.ParseFloat(found[1], 64)
	if err != nil || level > worstExposure {
		t.Errorf("exposure level %s is above %.1f\n%s", found[1], worstExposure, report)
	}
	t.Logf("exposure level %s", found[1])
	pid := m.hostPID()
	want := map[string]string{"CapEff": "0000000000000000", "CapBnd": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2"}
	got := map[string]string{}
	for field := range want {
		got[field] = status(t, pid, field)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status of the process (-want +got):\n%s", diff)
	}
	if uid := strings.Fields(status(t, pid, "Uid"))[0]; uid == "0" {
		t.Error("the server runs as root")
	}
	mounts, err := os.ReadFile("/proc/" + pid + "/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); f[1] == "/" && !strings.HasPrefix(f[3], "ro") {
			t.Errorf("the system is writable for the server: %s", line)
		}
	}
}

// hostPID returns the process id of the server as this test sees it.
func (m *machine) hostPID() string {
	m.t.Helper()
	inside := m.property("MainPID")
	found, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		m.t.Fatal(err)
	}
	machineNS, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", m.leader))
	for _, path := range found {
		pid := filepath.Base(filepath.Dir(path))
		if ns, err := os.Readlink("/proc/" + pid + "/ns/pid"); err != nil || ns != machineNS {
			continue
		}
		ids := strings.Fields(status(m.t, pid, "NSpid"))
		if len(ids) > 1 && ids[len(ids)-1] == inside {
			return pid
		}
	}
	m.t.Fatalf("no process %s in the machine", inside)
	return ""
}

// comesBack waits until the server runs in another process and is ready.
func (m *machine) comesBack(before string) {
	m.t.Helper()
	m.wait("another process that is ready", func() error {
		if pid := m.property("MainPID"); pid == before || pid == "0" {
			return fmt.Errorf("process %s", pid)
		}
		if state := m.property("ActiveState"); state != "active" {
			return errors.New(state)
		}
		return m.ready()
	})
}

func killed(t *testing.T, m *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	before := m.property("MainPID")
	m.run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", m.service)
	m.comesBack(before)
	if err := m.hasFirst(); err != nil {
		t.Errorf("a garden that was killed keeps its objects: %v", err)
	}
}

// hung stops the process with a shorter watchdog, which an operator sets in the same way.
func hung(t *testing.T, m *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	m.dropIn("[Service]\nWatchdogSec=8\n")
	m.run("systemctl", "restart", m.service)
	signs := m.property("WatchdogTimestampMonotonic")
	m.wait("a sign of life", func() error {
		if m.property("WatchdogTimestampMonotonic") == signs {
			return errors.New("none since the start")
		}
		return nil
	})
	before := m.property("MainPID")
	m.run("systemctl", "kill", "--kill-whom=main", "--signal=STOP", m.service)
	m.comesBack(before)
	if journal := m.run("journalctl", "--no-pager", "--unit="+m.service); !strings.Contains(journal, "Watchdog timeout") {
		t.Error("the process was ended by something else than the watchdog")
	}
	if err := m.hasFirst(); err != nil {
		t.Errorf("a garden that hung keeps its objects: %v", err)
	}
}

// dropIn writes what "systemctl edit" would.
func (m *machine) dropIn(content string) {
	m.t.Helper()
	dir := m.path("/etc/systemd/system/" + m.service + ".d")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "override.conf"), []byte(content), 0o644); err != nil {
		m.t.Fatal(err)
	}
	m.run("systemctl", "daemon-reload")
}

func rebooted(t *testing.T, m *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	m.reboot()
	m.wait("a garden after the reboot", m.ready)
	if err := m.hasFirst(); err != nil {
		t.Errorf("a garden keeps its objects over a reboot: %v", err)
	}
}

func upgraded(t *testing.T, m *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	const comment = "# edited by the operator\n"
	file, err := os.OpenFile(m.path(configFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(comment); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	before, old := m.property("MainPID"), m.run("dpkg-query", "--show", "terrarium")
	l := m.startLoad(t)
	m.run("dpkg", "--install", deb(t, *newer))
	m.comesBack(before)
	written := l.writes.Load()
	m.wait("a write after the upgrade, which ends the pause", func() error {
		if l.writes.Load() == written {
			return errors.New("none")
		}
		return nil
	})
	l.stop()
	lost, err := l.lost(m)
	if err != nil || len(lost) > 0 || len(l.acknowledged) == 0 {
		t.Errorf("lost %d of %d acknowledged writes: %q, %v", len(lost), len(l.acknowledged), lost, err)
	}
	t.Logf("%d writes acknowledged, none lost; the longest pause was %s", len(l.acknowledged), l.longest.Round(time.Second/100))
	if now := m.run("dpkg-query", "--show", "terrarium"); now == old {
		t.Errorf("the package is still %s", old)
	}
	if data, err := os.ReadFile(m.path(configFile)); err != nil || !strings.HasSuffix(string(data), comment) {
		t.Errorf("an upgrade keeps the configuration: %v\n%s", err, data)
	}
	if got := strings.TrimSpace(m.run("stat", "--format=%a %U:%G", configFile)); got != "640 root:terrarium" {
		t.Errorf("the configuration stays private; it is %s", got)
	}
}

func removed(t *testing.T, m *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	m.run("dpkg", "--remove", "terrarium")
	if m.exists("/usr/bin/terrarium") || m.exists("/usr/lib/systemd/system/"+server) {
		t.Error("program and unit are gone")
	}
	if !m.exists(dataDir+"/db") || !m.exists(configFile) {
		t.Error("data and configuration are kept")
	}
	m.run("dpkg", "--install", deb(t, *newer))
	m.run("systemctl", "start", m.service)
	if err := m.hasFirst(); err != nil {
		t.Errorf("a package that is installed again brings the garden back: %v", err)
	}
}

func purged(t *testing.T, m *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	m.run("dpkg", "--purge", "terrarium")
	for _, path := range []string{dataDir, "/etc/terrarium", "/usr/bin/terrarium"} {
		if m.exists(path) {
			t.Errorf("a purge leaves %s", path)
		}
	}
	if out, err := m.try("getent", "passwd", "terrarium"); err == nil {
		t.Errorf("a purge leaves the user %s", out)
	}
}

// archived installs the release archive without a package manager.
func archived(t *testing.T, m *machine) { //nolint:thelper // A part of the test, with the lines where it fails.
	folder := "/root/" + filepath.Base(*packages)
	sums := m.path(folder + "/SHA256SUMS")
	right, err := os.ReadFile(sums)
	if err != nil {
		t.Fatal(err)
	}
	wrong := regexp.MustCompile(`(?m)^[0-9a-f]{8}`).ReplaceAll(right, []byte("00000000"))
	if err := os.WriteFile(sums, wrong, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := m.try(folder + "/install.sh"); err == nil || m.exists("/usr/local/bin/terrarium") {
		t.Errorf("an archive with another checksum is not installed: %v", err)
	}
	if err := os.WriteFile(sums, right, 0o644); err != nil {
		t.Fatal(err)
	}
	m.run(folder+"/install.sh", "server", "--start", "--external-address", "garden.example.org")
	if err := m.ready(); err != nil {
		t.Errorf("the garden is ready when install.sh returns: %v", err)
	}
	before := m.property("MainPID")
	m.run(folder+"/install.sh", "server", "--start")
	if m.property("MainPID") != before {
		t.Error("an installation that changes nothing does not restart the garden")
	}
	// As if the program were of another version: with a byte more at its end.
	const program = "/usr/local/bin/terrarium"
	m.run("sh", "-c", "cp -p "+program+" /root/other && echo >>/root/other && mv /root/other "+program)
	m.run(folder+"/install.sh", "server", "--start")
	if m.property("MainPID") == before {
		t.Error("an upgrade restarts the garden")
	}
	m.run("terrarium", "uninstall", "server")
	if !m.exists(dataDir+"/db") || m.exists("/usr/local/bin/terrarium") {
		t.Error("uninstall keeps the data and removes the program")
	}
	m.run(folder+"/install.sh", "server", "--start")
	m.run("terrarium", "uninstall", "server", "--purge", "--yes")
	for _, path := range []string{dataDir, configFile, "/usr/local/bin/terrarium", "/usr/local/lib/systemd/system/" + server} {
		if m.exists(path) {
			t.Errorf("a purge leaves %s", path)
		}
	}
}
