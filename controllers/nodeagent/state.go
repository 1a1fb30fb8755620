// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent/imagefile"
)

// state is what the agent has to remember of its machine, because the machine does not tell it.
type state struct {
	// Files and Units are those that the agent may have to remove: of the last configuration, and of one that is being applied.
	Files []string `json:"files,omitempty"`
	Units []string `json:"units,omitempty"`
	// Runs says of each unit whether it is enabled, and whether it runs. Agents of earlier versions remembered nothing of that.
	Runs map[string]string `json:"runs,omitempty"`
	// Unsettled are the units that still have to be restarted or stopped.
	Unsettled []string `json:"unsettled,omitempty"`
	// Images says of files by path what was taken from an image. Without it they would have to be fetched to be compared.
	Images map[string]taken `json:"images,omitempty"`
}

// taken is a file that comes from an image.
type taken struct {
	imagefile.Ref

	// SHA256 is the checksum of its content.
	SHA256 string `json:"sha256"`
}

// equal reports whether nothing is to be remembered anew, once nothing is left to do.
func (s *state) equal(other state) bool {
	return slices.Equal(s.Files, other.Files) && slices.Equal(s.Units, other.Units) && maps.Equal(s.Runs, other.Runs) && maps.Equal(s.Images, other.Images)
}

// runOf says whether a unit is enabled, and whether it runs; it is empty for one that is left as it is.
func runOf(unit *gardenextensionsv1alpha1.Unit) string {
	if unit.Enable == nil && unit.Command == nil {
		return ""
	}
	enabled, does := "", "runs"
	if unit.Enable != nil {
		enabled = fmt.Sprintf("enabled=%t ", *unit.Enable)
	}
	if Stopped(unit) {
		does = "stopped"
	}
	return enabled + does
}

const (
	// stateDir is where agents remember by default.
	stateDir  = "/var/lib/gardener-node-agent"
	stateFile = "state.json"
	stateMode = 0o600
)

// Start is the file from which the agent of a machine learns what the machine started with. Without it the agent would not know of those files
// and units that its configuration does not have any more at its first pass, and would leave them for ever. Nor would it know which units run that
// are to rest by now.
func Start(files []string, units []gardenextensionsv1alpha1.Unit) (File, error) {
	s := state{Files: files, Runs: map[string]string{}}
	for i := range units {
		s.Runs[units[i].Name] = runOf(&units[i])
		if units[i].Content != nil {
			s.Units = append(s.Units, units[i].Name)
		}
	}
	data, err := json.Marshal(s)
	if err != nil {
		return File{}, fmt.Errorf("write what the machine starts with: %w", err)
	}
	return File{Path: filepath.Join(stateDir, stateFile), Mode: stateMode, Data: data}, nil
}

// load reads the state. There is none before the first configuration.
func (m *Machine) load() (state, error) {
	s := state{}
	data, err := os.ReadFile(m.at(filepath.Join(m.StateDir, stateFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return state{}, fmt.Errorf("read what was applied before: %w", err)
	}
	return s, nil
}

func (m *Machine) save(s state) error {
	data, err := json.Marshal(s)
	if err == nil {
		err = write(m.at(filepath.Join(m.StateDir, stateFile)), stateMode, data)
	}
	if err != nil {
		return fmt.Errorf("remember what is applied: %w", err)
	}
	return nil
}

// write puts a file in place.
func write(path string, mode uint32, data []byte) error {
	return put(path, mode, func(to io.Writer) error {
		_, err := to.Write(data)
		return err //nolint:wrapcheck // It has the path.
	})
}

// put puts a file in place in one step, so that nobody sees half of it and it is whole after a crash. Before that nobody but its owner
// may read it.
func put(path string, mode uint32, fill func(to io.Writer) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // Folders of the system are read by everybody.
		return fmt.Errorf("make folder: %w", err)
	}
	if err := discard(path); err != nil {
		return err
	}
	file, err := os.OpenFile(unfinished(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make file: %w", err)
	}
	err = errors.Join(fill(file), file.Chmod(fs.FileMode(mode)&fs.ModePerm), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write file %q: %w", path, err), os.Remove(file.Name()))
	}
	return nil
}

// unfinished is where a file is written before it is in place. An agent that is killed leaves it there. It always has the same name, so that the
// next agent finds it.
func unfinished(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".gardener-node-agent")
}

// discard removes what an agent that was killed has left of a file. It may be a secret.
func discard(path string) error {
	err := os.Remove(unfinished(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("remove what is left of a file: %w", err)
	}
	return nil
}
