// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// TestCgroupsRemove works on the real control groups of this machine, in a group of its own.
func TestCgroupsRemove(t *testing.T) {
	t.Parallel()
	groups, err := node.FindCgroups()
	if err != nil {
		t.Fatal(err)
	}
	name := "node-test-" + strconv.Itoa(os.Getpid())
	if err := groups.Make(name); err != nil {
		t.Skipf("control groups cannot be made here: %v", err)
	}
	if err := groups.Make(name); err != nil {
		t.Errorf("Make succeeds if the group exists: %v", err)
	}
	inner := filepath.Join(groups.Roots[0], name, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- child.Wait() }()
	if err := os.WriteFile(filepath.Join(groups.Roots[0], name, "cgroup.procs"), []byte(strconv.Itoa(child.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}

	killed, removed, err := groups.Remove(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Errorf("The process in the group ended by itself and was not killed")
	}
	if diff := cmp.Diff(len(groups.Roots)+1, removed); diff != "" || killed < 1 {
		t.Errorf("Remove() = %d killed, want at least 1; removed groups (-want +got):\n%s", killed, diff)
	}
	for _, root := range groups.Roots {
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			t.Errorf("The group must be removed from every hierarchy; it is in %s", root)
		}
	}
	if killed, removed, err := groups.Remove(t.Context(), name); err != nil || killed+removed != 0 {
		t.Errorf("There is nothing left to remove: %d, %d, %v", killed, removed, err)
	}
}
