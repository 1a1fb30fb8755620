// SPDX-License-Identifier: Apache-2.0

package machineunits_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machineunits"
)

// apply makes a machine in a folder.
func apply(t *testing.T, root string, units ...gardenextensionsv1alpha1.Unit) {
	t.Helper()
	m := &nodeagent.Machine{Root: root, StateDir: "/state", Units: machineunits.Init{Root: root}}
	if err := m.Apply(t.Context(), nodeagent.Configuration{Units: units}); err != nil {
		t.Fatal(err)
	}
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return err == nil
}

// run starts a process in the place of the unit long.service, and tells when it has ended.
func run(t *testing.T, root string) chan error {
	t.Helper()
	process := exec.CommandContext(t.Context(), "sleep", "600")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	pid := filepath.Join(root, "run/machine/long.service.pid")
	if err := os.MkdirAll(filepath.Dir(pid), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pid, []byte(strconv.Itoa(process.Process.Pid)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	return ended
}

// TestUnitsThatRunOnceFromNowOnEnd has a unit that kept running and is to run once now.
func TestUnitsThatRunOnceFromNowOnEnd(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	unit := func(kind string) gardenextensionsv1alpha1.Unit {
		return gardenextensionsv1alpha1.Unit{Name: "long.service", Content: new("[Service]\nType=" + kind + "\nExecStart=/bin/true\n")}
	}
	apply(t, root, unit("simple"))
	ended := run(t, root)
	apply(t, root, unit("oneshot"))
	if exists(t, filepath.Join(root, "etc/machine/units/long.service.sh")) || exists(t, filepath.Join(root, "run/machine/long.service.pid")) {
		t.Fatal("the unit is not stopped, and machine-init would start it again")
	}
	if err := <-ended; err == nil {
		t.Error("the unit ended by itself")
	}
}

// TestChangedUnitsEnd has a process in the place of a unit: machine-init would start it again with the new script.
func TestChangedUnitsEnd(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	long := func(command string) gardenextensionsv1alpha1.Unit {
		return gardenextensionsv1alpha1.Unit{Name: "long.service", Content: new("[Service]\nExecStart=" + command + "\n")}
	}
	apply(t, root, long("/bin/old"))
	script := filepath.Join(root, "etc/machine/units/long.service.sh")
	ended := run(t, root)
	apply(t, root, long("/bin/new"))
	if err := <-ended; err == nil {
		t.Error("the unit ended by itself")
	}
	data, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("#!/bin/sh\n# long.service\nset -e\nexec /bin/new\n", string(data)); diff != "" {
		t.Errorf("the new script (-want +got):\n%s", diff)
	}
	ended = run(t, root)
	apply(t, root)
	if err := <-ended; err == nil {
		t.Error("the unit ended by itself")
	}
	if exists(t, script) {
		t.Error("the script of a unit that goes is there and would be run again")
	}
	if exists(t, filepath.Join(root, "run/machine/long.service.pid")) {
		t.Error("the number of its process is there, which another process may have by the time the unit is back")
	}
}

// TestUnitsThatRunOnceAreRun changes the command of one.
func TestUnitsThatRunOnceAreRun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	touching := func(name string) gardenextensionsv1alpha1.Unit {
		return gardenextensionsv1alpha1.Unit{Name: "once.service", Content: new("[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo ran >>" + filepath.Join(root, name) + "'\n")}
	}
	for _, name := range []string{"a", "b", "b"} {
		apply(t, root, touching(name))
	}
	for _, name := range []string{"a", "b"} {
		if data, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(data) != "ran\n" {
			t.Errorf("unit %s: %q, %v, want that it ran once", name, data, err)
		}
	}
}
