// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/terrarium-garden/terrarium/packaging/systemd"
)

const systemctl = "systemctl"

var (
	// ErrNotRoot says that the process may not change the system.
	ErrNotRoot = errors.New("to install or remove a service requires root")
	// ErrNoSystemd says that services of this machine are not run by systemd.
	ErrNoSystemd = errors.New("this machine does not run systemd")
)

// Machine is the machine on which a service is installed.
type Machine struct {
	// Root is the directory of its file system; empty on the machine itself, and another one in tests.
	Root string
	// UserID is the user of this process.
	UserID int
	// Run runs a command and returns what it prints.
	Run func(ctx context.Context, name string, args ...string) (string, error)
	// GroupID returns the id of a group.
	GroupID func(name string) (int, error)
	// Own makes a file belong to root and a group.
	Own func(path string, group int) error
}

// ThisMachine returns the machine of this process.
func ThisMachine() Machine {
	return Machine{UserID: os.Geteuid(), Run: runCommand, GroupID: groupID, Own: func(path string, group int) error { return os.Chown(path, 0, group) }}
}

// Check returns why services cannot be installed on this machine.
func (m Machine) Check() error {
	if m.UserID != 0 {
		return ErrNotRoot
	}
	if !m.exists("/run/systemd/system") {
		return ErrNoSystemd
	}
	return nil
}

func (m Machine) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(m.Root, path))
	return err == nil
}

// packaged says that a package of the system owns the service.
func (m Machine) packaged(s systemd.Service) bool {
	return m.exists(filepath.Join("/usr/lib/systemd/system", s.Unit)) || m.exists(filepath.Join("/lib/systemd/system", s.Unit))
}

// active says that the service runs or is about to.
func (m Machine) active(ctx context.Context, s systemd.Service) bool {
	state, _ := m.Run(ctx, systemctl, "show", "--property=ActiveState", "--value", s.Unit)
	switch strings.TrimSpace(state) {
	case "active", "activating", "reloading":
		return true
	}
	return false
}

// outdated says that the unit file has changed since systemd has read it, or that the service runs a program that was replaced.
func (m Machine) outdated(ctx context.Context, s systemd.Service) bool {
	properties, _ := m.Run(ctx, systemctl, "show", "--property=NeedDaemonReload,MainPID", s.Unit)
	for line := range strings.Lines(properties) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), "="); {
		case name == "NeedDaemonReload" && value == "yes":
			return true
		case name == "MainPID" && value != "0":
			program, err := os.Readlink(filepath.Join(m.Root, "/proc", value, "exe"))
			if err == nil && strings.HasSuffix(program, " (deleted)") {
				return true
			}
		}
	}
	return false
}

// run runs commands in order until one fails.
func (m Machine) run(ctx context.Context, commands ...[]string) error {
	for _, c := range commands {
		if _, err := m.Run(ctx, c[0], c[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// runCommand runs a program of the system. Its error has what the program has written to the standard error stream.
func runCommand(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // Commands of the plan.
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

func groupID(name string) (int, error) {
	group, err := user.LookupGroup(name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(group.Gid)
}

// ensureUser creates the user of a service from its description in a file.
func (m Machine) ensureUser(ctx context.Context, s systemd.Service, description string) error {
	if _, err := m.GroupID(s.User); err == nil {
		return nil
	}
	_, err := m.Run(ctx, "systemd-sysusers", description)
	if err == nil || !errors.Is(err, exec.ErrNotFound) {
		return err
	}
	_, err = m.Run(ctx, "useradd", "--system", "--user-group", "--no-create-home", "--home-dir", s.StateDir,
		"--shell", "/usr/sbin/nologin", "--comment", s.Description, s.User)
	return err
}

// remove removes files, and says which it has removed. Those that do not exist are no error.
func (m Machine) remove(tell func(string), paths ...string) error {
	var errs []error
	for _, path := range paths {
		if !m.exists(path) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(m.Root, path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		tell("removed " + path)
	}
	return errors.Join(errs...)
}
