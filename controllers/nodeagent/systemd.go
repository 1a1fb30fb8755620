// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

const (
	systemdDir  = "/etc/systemd/system"
	systemdBoot = "/run/systemd/system"
)

// Booted reports whether systemd runs this machine.
func Booted() bool {
	_, err := os.Lstat(systemdBoot)
	return err == nil
}

// Systemd are units that systemd runs.
type Systemd struct {
	// Program is systemctl.
	Program string
}

var _ Units = Systemd{}

// Files implements Units.
func (Systemd) Files(unit *gardenextensionsv1alpha1.Unit) ([]File, error) {
	if unit.Name == "" || filepath.Base(unit.Name) != unit.Name {
		return nil, fmt.Errorf("unit %q: this is not the name of a unit", unit.Name)
	}
	var files []File
	if unit.Content != nil {
		files = append(files, File{Path: filepath.Join(systemdDir, unit.Name), Mode: defaultMode, Data: []byte(*unit.Content)})
	}
	for _, dropIn := range unit.DropIns {
		path := filepath.Join(systemdDir, unit.Name+".d", filepath.Base(dropIn.Name))
		files = append(files, File{Path: path, Mode: defaultMode, Data: []byte(dropIn.Content)})
	}
	return files, nil
}

// Reload implements Units.
func (s Systemd) Reload(ctx context.Context) error { return s.run(ctx, "daemon-reload") }

// Restart implements Units. The agent does not wait for its own end.
func (s Systemd) Restart(ctx context.Context, unit *gardenextensionsv1alpha1.Unit) error {
	if unit.Enable != nil {
		verb := "enable"
		if !*unit.Enable {
			verb = "disable"
		}
		if err := s.run(ctx, verb, unit.Name); err != nil {
			return err
		}
	}
	switch {
	case Stopped(unit):
		return s.run(ctx, "stop", unit.Name)
	case unit.Name == Unit:
		return s.run(ctx, "restart", "--no-block", unit.Name)
	default:
		return s.run(ctx, "restart", unit.Name)
	}
}

// Stop implements Units. Without its file there is no such unit any more.
func (s Systemd) Stop(ctx context.Context, name string) error {
	if _, err := os.Lstat(filepath.Join(systemdDir, name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(s.run(ctx, "disable", name), s.run(ctx, "stop", name))
}

func (s Systemd) run(ctx context.Context, args ...string) error {
	if err := Command(ctx, s.Program, args...); err != nil {
		return fmt.Errorf("systemctl %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
