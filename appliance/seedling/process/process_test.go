// SPDX-License-Identifier: Apache-2.0

package process_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/seedling/process"
)

// newTable returns an empty table whose processes do not outlive the test.
func newTable(t *testing.T) process.Table {
	t.Helper()
	table := process.Table{RecordDir: filepath.Join(t.TempDir(), "records"), LogDir: filepath.Join(t.TempDir(), "logs")}
	t.Cleanup(func() {
		names, err := table.Names()
		if err != nil {
			t.Errorf("list processes: %v", err)
		}
		for _, name := range names {
			if _, err := table.Stop(context.Background(), name, 0); err != nil {
				t.Errorf("stop %q: %v", name, err)
			}
		}
	})
	return table
}

// shell starts a shell script under the name "part".
func shell(t *testing.T, table process.Table, script string, env ...string) process.Record {
	t.Helper()
	record, started, err := table.Start(process.Spec{Name: "part", Path: "/bin/sh", Args: []string{"-c", script}, Env: env})
	if err != nil || !started {
		t.Fatalf("Start(%q) = started %t, error %v", script, started, err)
	}
	return record
}

// eventually waits for the outside world, which gives no sign of its own.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

func TestStartIsIdempotent(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	first := shell(t, table, "exec sleep 60")
	second, started, err := table.Start(process.Spec{Name: "part", Path: "/bin/false"})
	if err != nil || started {
		t.Errorf("A process that runs stays as it is.\nStart() = started %t, error %v", started, err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("The record is of the process that runs (-first +second):\n%s", diff)
	}
}

func TestStartAfterDeath(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	first := shell(t, table, "exit 3")
	eventually(t, "the process has ended", func() bool { return !first.Alive() })
	second := shell(t, table, "exec sleep 60")
	if second.PID == first.PID && second.StartTicks == first.StartTicks {
		t.Errorf("A process that died is started again; got the record of the old one: %v", second)
	}
}

func TestStartIsDetached(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	record := shell(t, table, `cut -d " " -f 6 /proc/$$/stat; pwd; if read -r line; then echo "$line"; else echo no input; fi; exec sleep 60`)
	var lines []string
	eventually(t, "the process has printed", func() bool {
		var err error
		lines, err = table.Tail("part", 10)
		return err == nil && len(lines) == 3
	})
	want := []string{jsonOf(t, record.PID), "/", "no input"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("A process has a session of its own, no folder that could not be unmounted, and no input (-want +got):\n%s", diff)
	}
}

func TestStopAsksFirst(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	shell(t, table, `trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
	awaitLine(t, table, "ready")
	ended, err := table.Stop(t.Context(), "part", 10*time.Second)
	if err != nil || !ended {
		t.Fatalf("Stop() = %t, %v", ended, err)
	}
	awaitLine(t, table, "asked")
	if names, err := table.Names(); err != nil || len(names) > 0 {
		t.Errorf("A process that was stopped is forgotten; Names() = %q, %v", names, err)
	}
	if ended, err := table.Stop(t.Context(), "part", time.Second); err != nil || ended {
		t.Errorf("There is nothing left to end: Stop() = %t, %v", ended, err)
	}
}

func TestStopKillsTheDeaf(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	record := shell(t, table, `trap '' TERM; echo ready; while :; do sleep 0.01; done`)
	awaitLine(t, table, "ready")
	if _, err := table.Stop(t.Context(), "part", 100*time.Millisecond); err != nil {
		t.Fatalf("Stop() = %v", err)
	}
	if record.Alive() {
		t.Errorf("A process that does not listen is killed after the grace period; %d runs", record.PID)
	}
}

func TestForeignProcessIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		forge  func(*process.Record)
	}{
		"other start": {
			reason: "A process that started at another moment has only inherited the id.",
			forge:  func(r *process.Record) { r.StartTicks-- },
		},
		"other boot": {
			reason: "Ids and start times are reused after a boot.",
			forge:  func(r *process.Record) { r.Boot = "another" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			foreign := exec.CommandContext(t.Context(), "sleep", "60")
			if err := foreign.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = foreign.Process.Kill(); _ = foreign.Wait() }()
			record, err := process.Observe(foreign.Process.Pid, nil)
			if err != nil {
				t.Fatal(err)
			}
			tc.forge(&record)
			table := newTable(t)
			writeRecord(t, table, "part", record)

			ended, err := table.Stop(t.Context(), "part", time.Second)
			if err != nil || ended {
				t.Errorf("%s\nStop() = %t, %v", tc.reason, ended, err)
			}
			if now, err := process.Observe(foreign.Process.Pid, nil); err != nil || !now.Alive() {
				t.Errorf("%s\nThe process was ended: %v", tc.reason, err)
			}
		})
	}
}

func TestZombieIsNotAlive(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	record, err := process.Observe(child.Process.Pid, nil)
	if err != nil || !record.Alive() {
		t.Fatalf("Observe() = %v, %v", record, err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a process that ended, but that nobody has collected, is not alive", func() bool { return !record.Alive() })
	_ = child.Wait()
}

func TestWithEnvironment(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	mark := "PROCESS_TEST_MARK=" + t.TempDir()
	record := shell(t, table, "exec sleep 60", mark)
	var found []process.Record
	eventually(t, "the process is found by its mark", func() bool {
		var err error
		found, err = process.WithEnvironment(mark)
		return err == nil && len(found) == 1
	})
	eventually(t, "the shell is replaced", func() bool {
		found, err := process.WithEnvironment(mark)
		return err == nil && len(found) == 1 && found[0].PID == record.PID && slices.Equal(found[0].Command, []string{"sleep", "60"})
	})
	for _, other := range []string{mark + "/longer", mark[:len(mark)-1]} {
		if found, err := process.WithEnvironment(other); err != nil || len(found) > 0 {
			t.Errorf("A mark that only begins alike is another one: WithEnvironment(%q) = %v, %v", other, found, err)
		}
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	table := newTable(t)
	record := shell(t, table, `i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done`)
	eventually(t, "the process has ended", func() bool { return !record.Alive() })
	got, err := table.Tail("part", 2)
	if diff := cmp.Diff([]string{"line 4998", "line 4999"}, got); err != nil || diff != "" {
		t.Errorf("Tail(2) = error %v (-want +got):\n%s", err, diff)
	}
}

func TestStartRotatesLargeLog(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{1 << 10: false, 17 << 20: true} {
		table := newTable(t)
		if err := os.MkdirAll(table.LogDir, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, lines := range map[string]int{table.LogFile("part"): size, table.LogFile("part") + ".1": 0} {
			if err := os.WriteFile(file, bytes.Repeat([]byte("\n"), lines), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		shell(t, table, "echo ready; exec sleep 60")
		awaitLine(t, table, "ready")
		aside, err := os.Stat(table.LogFile("part") + ".1")
		if err != nil || (aside.Size() == int64(size)) != want {
			t.Errorf("Only a large log is put aside, in place of the one before: of %d bytes, %d are aside, error %v", size, aside.Size(), err)
		}
	}
}

func TestBrokenRecord(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "17", `{"pid": 1`} {
		table := process.Table{RecordDir: t.TempDir(), LogDir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(table.RecordDir, "part.pid"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if record, alive, err := table.Find("part"); err != nil || alive {
			t.Errorf("A record that a power failure has destroyed is of no process; Find() = %v, %t, %v", record, alive, err)
		}
		if ended, err := table.Stop(t.Context(), "part", 0); err != nil || ended {
			t.Errorf("There is nothing to end: Stop() = %t, %v", ended, err)
		}
	}
}

func awaitLine(t *testing.T, table process.Table, line string) {
	t.Helper()
	eventually(t, "line "+line, func() bool {
		lines, err := table.Tail("part", 10)
		return err == nil && slices.Contains(lines, line)
	})
}

func writeRecord(t *testing.T, table process.Table, name string, record process.Record) {
	t.Helper()
	if err := os.MkdirAll(table.RecordDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(table.RecordDir, name+".pid"), []byte(jsonOf(t, record)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
