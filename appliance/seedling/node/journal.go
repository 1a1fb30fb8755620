// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Journal remembers how the machine was before: each change is written down before it is made, so that it
// can be undone whatever happens in between.
type Journal struct {
	file string
	// Settings are the kernel settings that were changed, with the values that they had.
	Settings map[string]string `json:"settings,omitempty"`
	// Network tells in which network, of which boot of the machine, addresses and the like were made.
	Network string `json:"network,omitempty"`
	// Absent are folders outside of the seedling's own that were not there.
	Absent []string `json:"absent,omitempty"`
}

// OpenJournal reads the journal in a file; without the file it is empty.
func OpenJournal(file string) (*Journal, error) {
	journal := &Journal{file: file, Settings: map[string]string{}}
	content, err := os.ReadFile(file) //nolint:gosec // The path is the caller's own.
	if errors.Is(err, fs.ErrNotExist) {
		return journal, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal of changes to the machine: %w", err)
	}
	if err := json.Unmarshal(content, journal); err != nil {
		return nil, fmt.Errorf("parse journal of changes to the machine %q: %w", file, err)
	}
	return journal, nil
}

func (j *Journal) save() error {
	content, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return fmt.Errorf("encode journal of changes to the machine: %w", err)
	}
	if err := os.WriteFile(j.file+".new", append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("write journal of changes to the machine: %w", err)
	}
	if err := os.Rename(j.file+".new", j.file); err != nil {
		return fmt.Errorf("put journal of changes to the machine in place: %w", err)
	}
	return nil
}

// NoteNetwork writes down in which network changes will be made.
func (j *Journal) NoteNetwork(network string) error {
	if j.Network == network {
		return nil
	}
	j.Network = network
	return j.save()
}

// Raise changes a kernel setting that is a number, unless it is higher already. It returns fs.ErrNotExist if the kernel does not have it.
func (j *Journal) Raise(name string, least int) error {
	content, err := os.ReadFile(filepath.Join("/proc/sys", name)) //nolint:gosec // The path is one of the kernel's.
	if err != nil {
		return fmt.Errorf("read kernel setting %q: %w", name, err)
	}
	now, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return fmt.Errorf("read kernel setting %q: %w", name, err)
	}
	if now >= least {
		return nil
	}
	return j.Set(name, strconv.Itoa(least))
}

// Set changes a kernel setting, given with slashes as below /proc/sys. It returns fs.ErrNotExist if the kernel does not have it.
func (j *Journal) Set(name, value string) error {
	path := filepath.Join("/proc/sys", name)
	content, err := os.ReadFile(path) //nolint:gosec // The path is one of the kernel's.
	if err != nil {
		return fmt.Errorf("read kernel setting %q: %w", name, err)
	}
	before := strings.TrimSpace(string(content))
	if before == value {
		return nil
	}
	if _, known := j.Settings[name]; !known {
		j.Settings[name] = before
		if err := j.save(); err != nil {
			return err
		}
	}
	if err := os.WriteFile(path, []byte(value), 0o644); err != nil { //nolint:gosec // The file is the kernel's, its mode stays.
		return fmt.Errorf("change kernel setting %q to %q: %w", name, value, err)
	}
	return nil
}

// HasSetting reports whether the kernel has a setting.
func HasSetting(name string) bool {
	_, err := os.Stat(filepath.Join("/proc/sys", name))
	return err == nil
}

// LoadModules loads modules of the kernel that it may have to load from files. One that is not there is built
// in, or not to be had; what needs it says so.
func LoadModules(ctx context.Context, names ...string) {
	for _, name := range names {
		_ = exec.CommandContext(ctx, "modprobe", "--quiet", name).Run() //nolint:gosec // The names are our own.
	}
}

// Restore gives every changed kernel setting the value that it had, and tells which. Without withNetwork it
// leaves out those that each network has for itself.
func (j *Journal) Restore(withNetwork bool) ([]string, error) {
	var restored []string
	var failed []error
	for name, value := range j.Settings {
		if !withNetwork && strings.HasPrefix(name, "net/") {
			continue
		}
		if err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0o644); err != nil { //nolint:gosec // The file is the kernel's, its mode stays.
			failed = append(failed, fmt.Errorf("restore kernel setting %q: %w", name, err))
			continue
		}
		restored = append(restored, name)
	}
	slices.Sort(restored)
	return restored, errors.Join(failed...)
}

// NoteAbsent writes down which of the folders are not there yet.
func (j *Journal) NoteAbsent(folders ...string) error {
	for _, folder := range folders {
		_, err := os.Lstat(folder)
		if errors.Is(err, fs.ErrNotExist) && !slices.Contains(j.Absent, folder) {
			j.Absent = append(j.Absent, folder)
		}
	}
	return j.save()
}

// RemoveAbsent removes those folders that were not there before, as long as nobody else put a file into
// them, and tells which.
func (j *Journal) RemoveAbsent() ([]string, error) {
	var removed []string
	var failed []error
	for _, folder := range j.Absent {
		gone, err := removeEmpty(folder)
		if err != nil {
			failed = append(failed, err)
		}
		if gone {
			removed = append(removed, folder)
		}
	}
	return removed, errors.Join(failed...)
}

// removeEmpty removes a folder and the folders in it, from the inside out, and stops where it meets a file.
func removeEmpty(folder string) (bool, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list folder %q: %w", folder, err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			return false, nil
		}
		gone, err := removeEmpty(filepath.Join(folder, entry.Name()))
		if err != nil || !gone {
			return false, err
		}
	}
	if err := os.Remove(folder); err != nil {
		return false, fmt.Errorf("remove empty folder: %w", err)
	}
	return true, nil
}
