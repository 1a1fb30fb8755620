// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	// osUpdateTimeout is how long the command that updates an operating system may take.
	osUpdateTimeout = 15 * time.Minute
	// mostRestarts is how often a machine may start again during the command without having another operating system.
	mostRestarts = 3
	// osUpdateFile is beside the configuration that was applied last, so that it outlives a restart of the machine.
	osUpdateFile = "os-update.json"

	bootFile    = "/proc/sys/kernel/random/boot_id"
	releaseFile = "/etc/os-release"
)

var errSameSystem = errors.New("the machine has started again and again, and its operating system is still the one of before; this is not tried again before another version or command is wanted")

// OSUpdate is the command with which the extension of an operating system brings a machine to another version (EXT-OSC-7).
type OSUpdate struct {
	// Version is that of the operating system after the update.
	Version string `json:"version"`
	// Command is the program, Args are its arguments.
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
}

func (u OSUpdate) equal(other OSUpdate) bool {
	return u.Version == other.Version && u.Command == other.Command && slices.Equal(u.Args, other.Args)
}

// osUpdateState is what an agent remembers of an update of the operating system. The command may restart the machine, and then nobody is left to
// say whether it succeeded: that is told by what the system looked like before.
type osUpdateState struct {
	Wanted OSUpdate `json:"wanted"`
	// Boot identifies the run of the machine in which the command began, Release the operating system then.
	Boot    string `json:"boot"`
	Release string `json:"release"`
	// Restarts is how often the machine started again since and was the same.
	Restarts int `json:"restarts,omitempty"`
	// Done is set when the machine has the version.
	Done bool `json:"done,omitempty"`
}

// updateSystem runs the command that updates the operating system, unless the machine has that version. What fails is tried again. If the machine
// starts again while the command runs, that has succeeded if the operating system is another one afterwards. Otherwise it may happen a few times, but
// a machine does not restart for ever.
func (a *Agent) updateSystem(ctx context.Context, wanted *OSUpdate) error {
	if wanted == nil {
		return nil
	}
	begun, err := a.begunOSUpdate()
	if err != nil {
		return err
	}
	if begun == nil {
		if last, err := a.last(); err != nil || last.has(*wanted) {
			return err
		}
	}
	now := osUpdateState{Wanted: *wanted}
	if now.Boot, now.Release, err = a.Machine.system(); err != nil {
		return err
	}
	switch {
	case begun != nil && begun.Done && begun.Wanted.Version == wanted.Version:
		return nil
	case begun == nil || begun.Done || !begun.Wanted.equal(*wanted):
		begun = &now
	case begun.Boot == now.Boot: // It has failed, or the agent was interrupted.
	case begun.Release != now.Release:
		begun.Done = true
		return a.noteOSUpdate(begun)
	case begun.Restarts == mostRestarts:
		return begun.failed(errSameSystem)
	default:
		begun.Restarts, begun.Boot = begun.Restarts+1, now.Boot
	}
	return a.runOSUpdate(ctx, begun)
}

// has reports whether a machine has started with a version of its operating system, or was updated to it.
func (c *Configuration) has(wanted OSUpdate) bool {
	return c != nil && c.InPlaceUpdates != nil && c.InPlaceUpdates.OSUpdate != nil && c.InPlaceUpdates.OSUpdate.Version == wanted.Version
}

func (s *osUpdateState) failed(err error) error {
	return fmt.Errorf("update the operating system to version %q with %q: %w", s.Wanted.Version, s.Wanted.Command, err)
}

func (a *Agent) runOSUpdate(ctx context.Context, begun *osUpdateState) error {
	if err := a.noteOSUpdate(begun); err != nil {
		return err
	}
	limited, end := context.WithTimeout(ctx, a.OSUpdateTimeout)
	defer end()
	if err := Command(limited, begun.Wanted.Command, begun.Wanted.Args...); err != nil {
		return begun.failed(err)
	}
	begun.Done = true
	return a.noteOSUpdate(begun)
}

func (a *Agent) begunOSUpdate() (*osUpdateState, error) {
	data, err := os.ReadFile(a.beside(osUpdateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	begun := &osUpdateState{}
	if err == nil {
		err = json.Unmarshal(data, begun)
	}
	if err != nil {
		return nil, fmt.Errorf("read how far the update of the operating system is: %w", err)
	}
	return begun, nil
}

func (a *Agent) noteOSUpdate(begun *osUpdateState) error {
	data, err := json.Marshal(begun)
	if err == nil {
		err = write(a.beside(osUpdateFile), stateMode, data)
	}
	if err != nil {
		return fmt.Errorf("remember how far the update of the operating system is: %w", err)
	}
	return nil
}

// system identifies the run of the machine, and its operating system.
func (m *Machine) system() (boot, release string, err error) {
	data, err := os.ReadFile(m.at(bootFile))
	if err != nil {
		return "", "", fmt.Errorf("find out since when the machine runs: %w", err)
	}
	described, err := os.ReadFile(m.at(releaseFile))
	if err != nil {
		return "", "", fmt.Errorf("find out what operating system the machine has: %w", err)
	}
	sum := sha256.Sum256(described)
	return strings.TrimSpace(string(data)), hex.EncodeToString(sum[:]), nil
}
