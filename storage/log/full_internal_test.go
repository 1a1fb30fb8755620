// SPDX-License-Identifier: Apache-2.0

package log

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
)

// TestFullDiskIsToldOnce has clients try again while the disk is full: what is logged may be on the same disk.
func TestFullDiskIsToldOnce(t *testing.T) {
	t.Parallel()

	var lines atomic.Int64
	cfg := NewConfig(filepath.Join(t.TempDir(), "objects.db"))
	cfg.Log = funcr.New(func(_, _ string) { lines.Add(1) }, funcr.Options{})
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close(): %v", err)
		}
	}()
	for round := range int64(2) {
		for _, size := range []int{1 << 20, 1} {
			pages := map[bool]int{true: 20, false: 10_000}[size > 1]
			if _, err := l.file.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
				t.Fatal(err)
			}
			for range 10 {
				_, err := l.Write(t.Context(), Change{Key: "/a", Value: make([]byte, size), Revision: l.Head("/a")})
				if want := size > 1; errors.Is(err, ErrNoSpace) != want {
					t.Fatalf("Write(%d bytes): got %v, and that there is no space: want %t", size, err, want)
				}
			}
		}
		if got, most := lines.Load(), round+1; got > most {
			t.Errorf("That the disk is full is said once each time.\ngot %d lines of the log, want at most %d", got, most)
		}
	}
	if lines.Load() == 0 {
		t.Error("That the disk is full is not said.")
	}
}

// TestFullDisk lets the file grow no further, as on a full disk, and then again.
func TestFullDisk(t *testing.T) {
	t.Parallel()

	l, err := Open(t.Context(), NewConfig(filepath.Join(t.TempDir(), "objects.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close(): %v", err)
		}
	}()
	bound := func(pages int) {
		if _, err := l.file.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	write := func(key string, size int) error {
		_, err := l.Write(t.Context(), Change{Key: key, Value: make([]byte, size)})

		return err
	}

	bound(20)
	if err := write("/large", 1<<20); !errors.Is(err, ErrNoSpace) {
		t.Errorf("Who writes is told what to do.\nWrite(1 MiB): got %v, want %v", err, ErrNoSpace)
	}
	before := l.Revision()
	if err := write("/small", 1); err != nil || l.Revision() != before+1 {
		t.Errorf("What was refused takes no revision, and what fits is still written.\nWrite(1 byte): %v; revision %d after %d",
			err, l.Revision(), before)
	}
	bound(10_000)
	if err := write("/large", 1<<20); err != nil {
		t.Errorf("Once there is space, writes are accepted again.\nWrite(1 MiB): %v", err)
	}
	list, err := l.List(t.Context(), Read{Range: Range{Key: "/", End: "0"}, KeysOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		Key      string
		Revision int64
	}
	var got []place
	for _, r := range list.Records {
		got = append(got, place{r.Key, r.Revision})
	}
	if diff := cmp.Diff([]place{{"/large", before + 2}, {"/small", before + 1}}, got); diff != "" {
		t.Errorf("Nothing is there that was refused.\nList(all) (-want +got):\n%s", diff)
	}
}
