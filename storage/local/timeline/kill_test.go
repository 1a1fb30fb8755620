// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// writerDir makes the test binary a process that adds entries to the timeline in a directory until it is killed.
const writerDir = "TIMELINE_WRITER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		fmt.Fprintln(os.Stderr, appendForever(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// appendForever prints the number of each entry when it is acknowledged. The little file makes it remove old ones all the time.
func appendForever(dir string) error {
	s, err := timeline.Open(timeline.Config{Dir: dir, Keep: time.Hour, MaxBytes: 512 << 10, Clock: clock.RealClock{}})
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if err := s.Append(context.Background(), entry("a", "Shoot", strconv.Itoa(n), time.Now())); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

// TestKilled kills a writer several times, and looks for its last acknowledged entry.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for round := range 4 {
		last := killWriter(t, dir, 300*(round+1))
		s := open(t, dir, clock.RealClock{}, 512<<10)
		page := list(t, s, timeline.Query{Namespace: "a", Kind: "Shoot", Name: strconv.Itoa(last)})
		if len(page.Entries) == 0 {
			t.Errorf("round %d: the acknowledged entry %d is lost", round, last)
		}
		all := list(t, s, timeline.Query{})
		next, _ := timeline.Number(all.Entries[0].Name)
		var want, got []uint64
		for _, e := range all.Entries {
			number, _ := timeline.Number(e.Name)
			want, got = append(want, next), append(got, number)
			next++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d: numbers of the entries (-want +got):\n%s", round, diff)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killWriter runs a writer, kills it after some entries, and returns the last one that was acknowledged.
func killWriter(t *testing.T, dir string, after int) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env, cmd.Stderr = append(os.Environ(), writerDir+"="+dir), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := -1
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if last, err = strconv.Atoi(lines.Text()); err != nil {
			t.Fatal(err)
		}
		if last == after {
			_ = cmd.Process.Kill() // What it acknowledged before is still in the pipe.
		}
	}
	_ = cmd.Wait() // It was killed.
	if last < after {
		t.Fatalf("the writer ended by itself after entry %d", last)
	}

	return last
}
