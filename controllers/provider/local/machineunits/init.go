// SPDX-License-Identifier: Apache-2.0

// Package machineunits runs the units of a local machine for its node agent. Such a machine has no systemd: its first process, machine-init,
// runs the script of each unit, and again whenever it ends.
package machineunits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/operatingsystemconfig"
)

const (
	// gonePeriod is the time between two looks at a process that was told to end, goneTimeout is how long it may take.
	gonePeriod  = 100 * time.Millisecond
	goneTimeout = 30 * time.Second
)

// Init are units that machine-init runs.
type Init struct {
	// Root is the root of the file system; empty outside of tests.
	Root string
}

var _ nodeagent.Units = Init{}

// Files implements nodeagent.Units. They are those that the user data of a machine write at its start.
func (Init) Files(unit *gardenextensionsv1alpha1.Unit) ([]nodeagent.File, error) {
	scripts, err := operatingsystemconfig.UnitFiles(*unit)
	if err != nil {
		return nil, fmt.Errorf("unit %q: %w", unit.Name, err)
	}
	files := make([]nodeagent.File, 0, len(scripts))
	for _, script := range scripts {
		files = append(files, nodeagent.File{Path: script.Path, Mode: script.Mode, Data: script.Content})
	}
	return files, nil
}

// Reload implements nodeagent.Units. machine-init reads the scripts each time.
func (Init) Reload(context.Context) error { return nil }

// Restart implements nodeagent.Units. A unit that ends is started again within a second; one that runs once is run here.
func (i Init) Restart(ctx context.Context, unit *gardenextensionsv1alpha1.Unit) error {
	if nodeagent.Stopped(unit) {
		return i.Stop(ctx, unit.Name)
	}
	once := filepath.Join(i.Root, operatingsystemconfig.OnceFile(unit.Name))
	if _, err := os.Lstat(once); err == nil {
		// It may be one that has kept running until now. Its script is gone, and nobody else would end it.
		if err := i.Stop(ctx, unit.Name); err != nil {
			return err
		}
		if err := nodeagent.Command(ctx, once); err != nil {
			return fmt.Errorf("run unit %q: %w", unit.Name, err)
		}
		return nil
	}
	return i.end(ctx, unit.Name)
}

// Stop implements nodeagent.Units. Without its script a unit is not started again.
func (i Init) Stop(ctx context.Context, name string) error {
	if err := remove(filepath.Join(i.Root, operatingsystemconfig.RunFile(name))); err != nil {
		return fmt.Errorf("remove unit %q: %w", name, err)
	}
	if err := i.end(ctx, name); err != nil {
		return err
	}
	if process, err := i.process(name); err != nil || process == os.Getpid() {
		return err
	}
	// The number may become that of another process, which must not be taken for the unit if there is one of that name again.
	if err := remove(i.processFile(name)); err != nil {
		return fmt.Errorf("forget the process of unit %q: %w", name, err)
	}
	return nil
}

// end ends the process of a unit, if there is one, and waits until it has gone, so that nobody takes it for the next one.
func (i Init) end(ctx context.Context, name string) error {
	process, err := i.process(name)
	if err != nil || process == none {
		return err
	}
	err = syscall.Kill(process, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) || process == os.Getpid() {
		return nil
	}
	if err == nil {
		err = wait.PollUntilContextTimeout(ctx, gonePeriod, goneTimeout, true, func(context.Context) (bool, error) {
			return errors.Is(syscall.Kill(process, 0), syscall.ESRCH), nil
		})
	}
	if err != nil {
		return fmt.Errorf("end unit %q: %w", name, err)
	}
	return nil
}

// none is the number of no process.
const none = 0

// process is the number of the process of a unit.
func (i Init) process(name string) (int, error) {
	data, err := os.ReadFile(i.processFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("find the process of unit %q: %w", name, err)
	}
	process, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || process <= 1 {
		return none, fmt.Errorf("find the process of unit %q: %q is not the number of a process", name, data)
	}
	return process, nil
}

func (i Init) processFile(name string) string {
	return filepath.Join(i.Root, machine.StateDir, operatingsystemconfig.ProcessName(name)+".pid")
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err //nolint:wrapcheck // The callers say what it is about.
	}
	return nil
}
