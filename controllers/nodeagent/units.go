// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// Unit is the unit under which the agent itself runs. It is restarted last, when nothing else is left to do.
const Unit = "gardener-node-agent.service"

// lastWords is how long the output of a command is read after its end. A process that it leaves behind may keep the output open for ever.
const lastWords = 5 * time.Second

// Units are the units of a machine, whatever runs them.
type Units interface {
	// Files returns what a unit consists of on this machine.
	Files(unit *gardenextensionsv1alpha1.Unit) ([]File, error)
	// Reload makes the changed files of units known.
	Reload(ctx context.Context) error
	// Restart makes a unit run with its files as they are, or ends it if its command or its enablement says so.
	Restart(ctx context.Context, unit *gardenextensionsv1alpha1.Unit) error
	// Stop ends a unit for good, before its files are removed.
	Stop(ctx context.Context, name string) error
}

// Stopped reports whether a unit is not to run.
func Stopped(unit *gardenextensionsv1alpha1.Unit) bool {
	return unit.Command != nil && *unit.Command == gardenextensionsv1alpha1.UnitCommandStop || unit.Enable != nil && !*unit.Enable
}

// Command runs a program. When ctx ends it is ended, with all that it has started. The error has what the program says.
func Command(ctx context.Context, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...) //nolint:gosec // The gardenlet names the units and their programs.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = lastWords
	out, err := command.CombinedOutput()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) { // It succeeded, and what it leaves behind has its output.
		return nil
	}
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
}
