// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const recordSuffix = ".pid"

// Spec says how to start one process.
type Spec struct {
	// Name is the key of the process in its table, and the name of its files.
	Name string
	// Path is the program, Args its arguments without the program name.
	Path string
	Args []string
	// Env is added to the environment of the caller.
	Env []string
}

// Table manages the processes whose files are in its two folders.
type Table struct {
	RecordDir string
	LogDir    string
}

// LogFile returns the file with the output of the named process.
func (t Table) LogFile(name string) string { return filepath.Join(t.LogDir, name+".log") }

func (t Table) recordFile(name string) string { return filepath.Join(t.RecordDir, name+recordSuffix) }

// Find returns the record of the named process if that process runs.
func (t Table) Find(name string) (Record, bool, error) {
	record, err := readRecord(t.recordFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, err
	}
	return record, record.Alive(), nil
}

// Names returns all processes with a record, running or not, in alphabetical order.
func (t Table) Names() ([]string, error) {
	entries, err := os.ReadDir(t.RecordDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list process records: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if name, is := strings.CutSuffix(entry.Name(), recordSuffix); is {
			names = append(names, name)
		}
	}
	return names, nil
}

// Start starts the process unless it runs. A large log of an earlier process is put aside. The process gets its own session and no input, so it is not affected by
// signals to the terminal of the caller or by the end of the caller.
func (t Table) Start(spec Spec) (record Record, started bool, err error) {
	record, alive, err := t.Find(spec.Name)
	if err != nil || alive {
		return record, false, err
	}
	for _, dir := range []string{t.RecordDir, t.LogDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return Record{}, false, fmt.Errorf("make folder for process %q: %w", spec.Name, err)
		}
	}
	if err := rotate(t.LogFile(spec.Name)); err != nil {
		return Record{}, false, fmt.Errorf("rotate log of process %q: %w", spec.Name, err)
	}
	log, err := os.OpenFile(t.LogFile(spec.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return Record{}, false, fmt.Errorf("open log of process %q: %w", spec.Name, err)
	}
	defer log.Close() //nolint:errcheck // The process has its own descriptor.

	//nolint:noctx,gosec // The process outlives the context, and the purpose is to run a given program.
	command := exec.Command(spec.Path, spec.Args...)
	command.Env = append(os.Environ(), spec.Env...)
	command.Dir = "/"
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return Record{}, false, fmt.Errorf("start process %q: %w", spec.Name, err)
	}
	record, err = t.register(spec, command.Process.Pid)
	if err != nil {
		return Record{}, false, errors.Join(err, command.Process.Kill())
	}
	if err := command.Process.Release(); err != nil {
		return Record{}, false, fmt.Errorf("release process %q: %w", spec.Name, err)
	}
	return record, true, nil
}

// rotate puts a large log aside, in place of the one before.
func rotate(log string) error {
	const large = 16 << 20
	info, err := os.Stat(log)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < large {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Rename(log, log+".1")
}

func (t Table) register(spec Spec, pid int) (Record, error) {
	record, err := Observe(pid, append([]string{spec.Path}, spec.Args...))
	if err != nil {
		return Record{}, fmt.Errorf("record process %q: %w", spec.Name, err)
	}
	return record, writeRecord(t.recordFile(spec.Name), record)
}

// Stop ends the named process, kills it after the grace period, and removes its record. It reports whether the
// process was running.
func (t Table) Stop(ctx context.Context, name string, grace time.Duration) (bool, error) {
	record, alive, err := t.Find(name)
	if err != nil {
		return false, err
	}
	if alive {
		if err := record.End(ctx, grace); err != nil {
			return false, fmt.Errorf("end process %q: %w", name, err)
		}
	}
	return alive, removeRecord(t.recordFile(name))
}

// Tail returns the last lines of the output of the named process.
func (t Table) Tail(name string, lines int) ([]string, error) {
	const window = 16 << 10
	file, err := os.Open(t.LogFile(name))
	if err != nil {
		return nil, fmt.Errorf("open log of process %q: %w", name, err)
	}
	defer file.Close() //nolint:errcheck // Only read from.
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("size of log of process %q: %w", name, err)
	}
	content := make([]byte, min(window, info.Size()))
	if _, err := file.ReadAt(content, info.Size()-int64(len(content))); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read log of process %q: %w", name, err)
	}
	all := slices.DeleteFunc(strings.Split(string(content), "\n"), func(line string) bool { return line == "" })
	return all[max(0, len(all)-lines):], nil
}
