// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	patience = 2 * time.Minute
	pause    = 100 * time.Millisecond
)

// machine is a container with its own systemd, network and file system.
type machine struct {
	t    *testing.T
	name string
	root string
	// service is the unit that is tested on it.
	service string
	leader  int
	nspawn  *exec.Cmd
	ended   chan struct{}
	log     *os.File
}

// newMachine boots a copy of the system in a folder.
func newMachine(t *testing.T, system, name, service string) *machine {
	t.Helper()
	m := &machine{t: t, name: name, service: service, root: filepath.Join(t.TempDir(), "root")}
	if out, err := exec.CommandContext(t.Context(), "cp", "--archive", system, m.root).CombinedOutput(); err != nil {
		t.Fatalf("copy the system: %v\n%s", err, out)
	}
	var err error
	if m.log, err = os.Create(filepath.Join(filepath.Dir(m.root), "console.log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.stop)
	m.boot()
	return m
}

// boot starts the machine and waits until systemd has started everything.
func (m *machine) boot() {
	m.t.Helper()
	// The machine is stopped by a cleanup, because its context would end before.
	m.nspawn = exec.CommandContext(context.WithoutCancel(m.t.Context()), "systemd-nspawn", "--quiet", "--directory", m.root, "--boot",
		"--register=no", "--keep-unit", "--private-network", "--console=pipe", "--hostname="+m.name, "--kill-signal=SIGRTMIN+3")
	m.nspawn.Stdout, m.nspawn.Stderr = m.log, m.log
	if err := m.nspawn.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan<- struct{}) {
		defer close(ended)
		_ = cmd.Wait()
	}(m.nspawn, m.ended)
	m.wait("a system that runs", func() error {
		// The first child may be one that only prepares the machine.
		children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", m.nspawn.Process.Pid))
		if err != nil {
			return err
		}
		if m.leader, err = strconv.Atoi(strings.TrimSpace(string(children))); err != nil {
			return fmt.Errorf("process of systemd: %w", err)
		}
		state, err := m.try("systemctl", "is-system-running")
		if strings.TrimSpace(state) == "running" || strings.TrimSpace(state) == "degraded" {
			return nil
		}
		return fmt.Errorf("%s: %w", state, errors.Join(err, errors.New("not running yet")))
	})
}

// stop ends the machine as a power switch does.
func (m *machine) stop() {
	if m.nspawn == nil {
		return
	}
	if m.leader > 0 {
		_ = unix.Kill(m.leader, unix.SIGKILL)
	}
	if err := m.nspawn.Process.Kill(); err != nil {
		m.t.Log(err) // It may have ended by itself.
	}
	<-m.ended
	m.nspawn = nil
}

// reboot restarts the machine in order.
func (m *machine) reboot() {
	m.t.Helper()
	if _, err := m.try("systemctl", "reboot"); err != nil {
		m.t.Log(err) // The command ends with the machine.
	}
	select {
	case <-m.ended:
	case <-time.After(patience):
		m.t.Fatal("the machine does not shut down")
	}
	m.boot()
}

// try runs a command in the machine.
func (m *machine) try(command ...string) (string, error) {
	args := append([]string{
		"--target", strconv.Itoa(m.leader), "--all", "--", "/usr/bin/env", "--ignore-environment",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive",
	}, command...)
	cmd := exec.CommandContext(m.t.Context(), "nsenter", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s%s", strings.Join(command, " "), err, out.String(), errs.String())
	}
	return out.String(), nil
}

// run runs a command in the machine, which must succeed.
func (m *machine) run(command ...string) string {
	m.t.Helper()
	out, err := m.try(command...)
	if err != nil {
		journal, _ := m.try("journalctl", "--no-pager", "--lines=40")
		m.t.Fatalf("%v\n--- journal\n%s", err, journal)
	}
	return out
}

// property returns a property of the service.
func (m *machine) property(name string) string {
	m.t.Helper()
	return strings.TrimSpace(m.run("systemctl", "show", "--property="+name, "--value", m.service))
}

// path returns the path of a file of the machine.
func (m *machine) path(name string) string { return filepath.Join(m.root, name) }

// exists says whether the machine has a file.
func (m *machine) exists(name string) bool {
	_, err := os.Lstat(m.path(name))
	return err == nil
}

// wait waits until a condition holds.
func (m *machine) wait(what string, holds func() error) {
	m.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := holds()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			journal, _ := m.try("journalctl", "--no-pager", "--lines=60")
			m.t.Fatalf("waited %s for %s: %v\n--- journal\n%s", patience, what, err, journal)
		}
		time.Sleep(pause)
	}
}

// dial opens a connection in the network of the machine. A socket stays in the network in which it was made.
func (m *machine) dial(ctx context.Context, network, address string) (net.Conn, error) {
	runtime.LockOSThread()
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	defer own.Close() //nolint:errcheck // Only a reference.
	theirs, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", m.leader))
	if err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	defer theirs.Close() //nolint:errcheck // Only a reference.
	if err := unix.Setns(int(theirs.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return nil, err
	}
	connection, dialErr := new(net.Dialer).DialContext(ctx, network, address)
	if err := unix.Setns(int(own.Fd()), unix.CLONE_NEWNET); err != nil {
		// The thread stays locked, so that it ends with the goroutine and nobody else gets it.
		return nil, err
	}
	runtime.UnlockOSThread()
	return connection, dialErr
}
