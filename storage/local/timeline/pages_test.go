// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// TestPagesAreReturned checks that what was read does not stay in the memory of the process, and can be read again.
func TestPagesAreReturned(t *testing.T) {
	t.Parallel()
	clk, dir := testclock.NewFakeClock(start), t.TempDir()
	s := open(t, dir, clk, 1<<30)
	const entries = 10_000
	var batch []*timeline.Entry
	for n := range entries {
		batch = append(batch, entry("garden-a", "Shoot", fmt.Sprintf("shoot-%d", n), start))
	}
	// Pages are given back after a write is answered, so the next one is answered after that.
	step := func(name string) {
		clk.Step(2 * time.Minute)
		for range 2 {
			if err := s.Append(t.Context(), entry("garden-a", "Shoot", name, clk.Now())); err != nil {
				t.Fatal(err)
			}
		}
	}
	step("before")
	if err := s.Append(t.Context(), batch...); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "timeline.db")
	list(t, s, timeline.Query{})
	before := resident(t, file)
	step("after")
	after := resident(t, file)
	if before < 1<<20 || after > before/2 {
		t.Errorf("Pages of the file are given back.\nresident: got %d bytes after %d, want half of it at most", after, before)
	}
	if got := len(list(t, s, timeline.Query{}).Entries); got != entries+4 {
		t.Errorf("Pages that were given back are read again.\nentries: got %d, want %d", got, entries+4)
	}
}

// resident returns how many bytes of a mapped file are in the memory of this process.
func resident(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := bytes.Cut(raw, []byte(file+"\n"))
	if !found {
		t.Fatalf("%s is not mapped", file)
	}
	_, rest, _ = bytes.Cut(rest, []byte("Rss:"))
	n, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		t.Fatal(err)
	}

	return n << 10
}
