// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

// ctr stands for containerd's client. Containers are the files of a folder: their names begin with the namespace of their pod, and they hold
// the numbers of processes.
const ctr = `#!/bin/sh
cd "$(dirname "$0")/containers"
case "$3 $*" in
containers*) [ ! -e ../broken ] || exit 1 ;;
esac
case "$3 $*" in
containers*!=kube-system) ls | grep -v ^kube-system ;;
containers*==kube-system) ls | grep ^kube-system ;;
tasks*)
  echo "TASK PID STATUS"
  for task in *; do echo "$task $(cat "$task") RUNNING"; done
  echo "workload-ended 1 STOPPED" ;;
*) echo "unknown: $*" >&2; exit 1 ;;
esac
`

// container is a program that says when it is told to end, and takes so many seconds, or never ends if there is no number.
const container = `trap 'echo "$0 is told" >>log; [ -z "$1" ] || { sleep "$1"; echo "$0 ends" >>log; exit; }' TERM
echo "$$" >"containers/$0"
echo started
while :; do sleep 0.1; done
`

// TestStop stops a machine with two programs that take their time: one of a workload, which is waited for and which the programs of
// kube-system serve until it has ended, and one of kube-system, which is not waited for.
func TestStop(t *testing.T) {
	t.Parallel()
	folder := machineFolder(t)
	for name, seconds := range map[string]string{"workload-database": "1", "kube-system-dns": ""} {
		startContainer(t, folder, name, seconds)
	}
	begin := clock.RealClock{}.Now()
	stopMachine(t, folder)
	if took := (clock.RealClock{}).Since(begin); took > 8*time.Second {
		t.Errorf("the machine stopped after %s: it waited for a program of kube-system", took)
	}
	want := []string{"workload-database is told", "workload-database ends", "kube-system-dns is told"}
	if diff := cmp.Diff(want, seen(t, folder)); diff != "" {
		t.Errorf("what the programs have seen (-want +got):\n%s", diff)
	}
}

// TestStopWithoutNamespaces stops a machine that does not say which containers are those of kube-system: all of them are told.
func TestStopWithoutNamespaces(t *testing.T) {
	t.Parallel()
	folder := machineFolder(t)
	if err := os.WriteFile(filepath.Join(folder, "broken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"workload-database", "kube-system-dns"} {
		startContainer(t, folder, name, "1")
	}
	if output := stopMachine(t, folder); !strings.Contains(output, "all containers are told to end") {
		t.Errorf("the machine does not say what it does:\n%s", output)
	}
	got := seen(t, folder)
	slices.Sort(got)
	want := []string{"kube-system-dns ends", "kube-system-dns is told", "workload-database ends", "workload-database is told"}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("what the programs have seen (-want +got):\n%s", diff)
	}
}

// machineFolder is a folder with what machine-init needs to stop.
func machineFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, sub := range []string{"containers", "bin", "state", "units"} {
		if err := os.Mkdir(filepath.Join(folder, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "ctr"), []byte(ctr), 0o700); err != nil {
		t.Fatal(err)
	}
	return folder
}

// stopMachine returns what machine-init says.
func stopMachine(t *testing.T, folder string) string {
	t.Helper()
	functions, _, found := strings.Cut(machine.Script(), "\nenter_cgroup_namespace\n")
	if !found {
		t.Fatal("machine-init does not begin its work where it is expected")
	}
	stop := exec.CommandContext(t.Context(), "sh", "-c", functions+fmt.Sprintf("\nstate=%[1]s/state\nunits=%[1]s/units\necho 999999999 >$state/containerd.pid\nstop\n", folder))
	stop.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	output, err := stop.CombinedOutput()
	if err != nil {
		t.Fatalf("stop: %v\n%s", err, output)
	}
	return string(output)
}

// seen is what the programs have written.
func seen(t *testing.T, folder string) []string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(log)), "\n")
}

// startContainer returns when the program can be told to end. It is killed with the test.
func startContainer(t *testing.T, folder, name, seconds string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, "sh", "-c", container, name, seconds)
	command.Dir = folder
	ready, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	t.Cleanup(func() { cancel(); <-exited })
	_, failed := ready.Read(make([]byte, 1))
	go func() {
		defer close(exited)
		_ = command.Wait() // It is killed, or ends as it was told.
	}()
	if failed != nil {
		t.Fatal(failed)
	}
}
