// SPDX-License-Identifier: Apache-2.0

package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/terrarium-garden/terrarium/appliance/seedling/durable"
)

// Record identifies one process uniquely. Process ids are reused, but not at the same tick of the same boot.
type Record struct {
	PID int `json:"pid"`
	// StartTicks is when the process started, in clock ticks since the boot (field 22 of /proc/PID/stat).
	StartTicks uint64 `json:"startTicks"`
	// Boot identifies the boot of the machine.
	Boot string `json:"boot"`
	// Command is the command line, for readers of the file.
	Command []string `json:"command"`
}

// Observe returns the record of a running process.
func Observe(pid int, command []string) (Record, error) {
	stat, err := readStat(pid)
	if err != nil {
		return Record{}, err
	}
	boot, err := Boot()
	if err != nil {
		return Record{}, err
	}
	return Record{PID: pid, StartTicks: stat.startTicks, Boot: boot, Command: command}, nil
}

// Alive reports whether the process of the record still runs. A zombie does not run.
func (r Record) Alive() bool {
	stat, err := readStat(r.PID)
	if err != nil {
		return false
	}
	boot, err := Boot()
	return err == nil && boot == r.Boot && stat.startTicks == r.StartTicks && !stat.ended()
}

type stat struct {
	state      byte
	startTicks uint64
}

func (s stat) ended() bool { return s.state == 'Z' || s.state == 'X' }

func readStat(pid int) (stat, error) {
	path := filepath.Join("/proc", strconv.Itoa(pid), "stat")
	content, err := os.ReadFile(path) //nolint:gosec // The path belongs to the kernel.
	if err != nil {
		return stat{}, fmt.Errorf("read state of process %d: %w", pid, err)
	}
	return parseStat(string(content))
}

// parseStat reads the fields after the program name, which is in brackets and may itself contain blanks and brackets.
func parseStat(line string) (stat, error) {
	const state, start = 0, 19 // fields 3 and 22, counted from the one after the name
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) <= start {
		return stat{}, fmt.Errorf("process state %q has too few fields", line)
	}
	ticks, err := strconv.ParseUint(fields[start], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("parse start time of process: %w", err)
	}
	return stat{state: fields[state][0], startTicks: ticks}, nil
}

// Boot identifies the current boot of this machine.
func Boot() (string, error) {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// readRecord returns an empty record, of which no process is alive, if the file does not contain one: a power failure can have
// destroyed it, and with it all processes have ended.
func readRecord(path string) (Record, error) {
	content, err := os.ReadFile(path) //nolint:gosec // The caller names the path.
	if err != nil {
		return Record{}, fmt.Errorf("read process record: %w", err)
	}
	var record Record
	if err := json.Unmarshal(content, &record); err != nil {
		return Record{}, nil //nolint:nilerr // See above.
	}
	return record, nil
}

// writeRecord replaces the file atomically.
func writeRecord(path string, record Record) error {
	content, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode process record: %w", err)
	}
	if err := durable.Replace(path, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("process record: %w", err)
	}
	return nil
}

func removeRecord(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove process record: %w", err)
	}
	return nil
}
