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

	"github.com/terrarium-garden/terrarium/appliance/seedling/durable"
	"github.com/terrarium-garden/terrarium/appliance/seedling/process"
)

// Journal records the original state of the machine. Each change is recorded before it is made, so that it can be undone
// even after a crash in between.
type Journal struct {
	file string
	// Boot is the boot of the machine in which the settings were changed. A later boot begins with settings of its own.
	Boot string `json:"boot,omitempty"`
	// Settings are the changed kernel settings with their original values, Wanted the values that they got.
	Settings map[string]string `json:"settings,omitempty"`
	Wanted   map[string]string `json:"wanted,omitempty"`
	// Network identifies the network namespace, and the boot of the machine, in which addresses and routes were added.
	Network string `json:"network,omitempty"`
	// Absent are folders that did not exist before and do not belong to the seedling.
	Absent []string `json:"absent,omitempty"`
}

// ErrUnreadableJournal says that the content of a journal is broken.
var ErrUnreadableJournal = errors.New("the journal of changes to the machine is unreadable")

// OpenJournal reads the journal from a file; without the file it is empty. If its content is broken, it
// is empty, too, and the error is ErrUnreadableJournal. Settings of an earlier boot are left out.
func OpenJournal(file string) (*Journal, error) {
	boot, err := process.Boot()
	if err != nil {
		return nil, err
	}
	journal := &Journal{file: file, Boot: boot, Settings: map[string]string{}, Wanted: map[string]string{}}
	content, err := os.ReadFile(file) //nolint:gosec // The caller names the path.
	if errors.Is(err, fs.ErrNotExist) {
		return journal, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read journal of changes to the machine: %w", err)
	}
	if err := json.Unmarshal(content, journal); err != nil {
		empty := &Journal{file: file, Boot: boot, Settings: map[string]string{}, Wanted: map[string]string{}}
		return empty, fmt.Errorf("%w: %q: %w", ErrUnreadableJournal, file, err)
	}
	if journal.Boot != boot || journal.Network != "" && !strings.HasPrefix(journal.Network, boot+" ") {
		journal.Boot, journal.Settings, journal.Wanted = boot, map[string]string{}, map[string]string{}
	}
	return journal, nil
}

func (j *Journal) save() error {
	content, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return fmt.Errorf("encode journal of changes to the machine: %w", err)
	}
	if err := durable.Replace(j.file, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("journal of changes to the machine: %w", err)
	}
	return nil
}

// NoteNetwork records the network namespace in which changes will be made.
func (j *Journal) NoteNetwork(network string) error {
	if j.Network == network {
		return nil
	}
	j.Network = network
	return j.save()
}

// Raise raises a numeric kernel setting to at least the given value. It returns fs.ErrNotExist if the kernel does not have it.
func (j *Journal) Raise(name string, least int) error {
	content, err := os.ReadFile(filepath.Join("/proc/sys", name)) //nolint:gosec // The path belongs to the kernel.
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
	content, err := os.ReadFile(path) //nolint:gosec // The path belongs to the kernel.
	if err != nil {
		return fmt.Errorf("read kernel setting %q: %w", name, err)
	}
	before := strings.TrimSpace(string(content))
	if before == value {
		return nil
	}
	if _, known := j.Settings[name]; !known {
		j.Settings[name] = before
	}
	j.Wanted[name] = value
	if err := j.save(); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(value), 0o644); err != nil { //nolint:gosec // The file belongs to the kernel, its mode does not change.
		return fmt.Errorf("change kernel setting %q to %q: %w", name, value, err)
	}
	return nil
}

// HasSetting reports whether the kernel has a setting.
func HasSetting(name string) bool {
	_, err := os.Stat(filepath.Join("/proc/sys", name))
	return err == nil
}

// LoadModules loads kernel modules. Errors are ignored, because a missing module may be built in; otherwise the part
// that needs it reports an error.
func LoadModules(ctx context.Context, names ...string) {
	for _, name := range names {
		_ = exec.CommandContext(ctx, "modprobe", "--quiet", name).Run() //nolint:gosec // The names are our own.
	}
}

// Restore sets all changed kernel settings to their original values, and returns their names. It leaves out those that
// others have changed since and, without withNetwork, those that each network namespace has for itself.
func (j *Journal) Restore(withNetwork bool) ([]string, error) {
	var restored []string
	var failed []error
	for name, value := range j.Settings {
		if !withNetwork && strings.HasPrefix(name, "net/") {
			continue
		}
		now, err := os.ReadFile(filepath.Join("/proc/sys", name)) //nolint:gosec // The path belongs to the kernel.
		if wanted, known := j.Wanted[name]; err == nil && known && strings.TrimSpace(string(now)) != wanted {
			continue
		}
		if err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0o644); err != nil { //nolint:gosec // The file belongs to the kernel, its mode does not change.
			failed = append(failed, fmt.Errorf("restore kernel setting %q: %w", name, err))
			continue
		}
		restored = append(restored, name)
	}
	slices.Sort(restored)
	return restored, errors.Join(failed...)
}

// NoteAbsent records which of the folders do not exist.
func (j *Journal) NoteAbsent(folders ...string) error {
	for _, folder := range folders {
		_, err := os.Lstat(folder)
		if errors.Is(err, fs.ErrNotExist) && !slices.Contains(j.Absent, folder) {
			j.Absent = append(j.Absent, folder)
		}
	}
	return j.save()
}

// RemoveAbsent removes the folders that did not exist before, unless they contain files, and returns those that it
// removed.
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

// removeEmpty removes a folder and its subfolders, innermost first, and keeps those with files.
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
