// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/storage/log"
	"github.com/terrarium-garden/terrarium/tests/faults/disk"
)

// TestSlowDisk writes to a disk on which every sync takes 50 ms. Writes that wait share one, so the disk makes writers wait
// and does not make them few.
func TestSlowDisk(t *testing.T) {
	t.Parallel()

	const writers, each, slow = 500, 4, 50 * time.Millisecond
	h := newHistory(t)
	h.cfg = log.NewConfig(h.cfg.File)
	h.open()
	defer h.close()
	h.disk.Delay(slow)
	before, began := h.disk.Syncs(), time.Now()
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				name := fmt.Sprintf("/key/%d/%d", w, n)
				if _, err := h.log.Write(t.Context(), log.Change{Key: name, Value: make([]byte, 2<<10)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	took, syncs := time.Since(began), h.disk.Syncs()-before
	t.Logf("%d writes in %s: %.0f/s with %d syncs", writers*each, took, writers*each/took.Seconds(), syncs)
	// The first one goes alone, and a few may miss each other.
	if syncs > 4*each {
		t.Errorf("Writes that wait share a sync.\n%d writes of %d writers: got %d syncs, want about %d", writers*each, writers, syncs, each+1)
	}
	h.disk.Delay(0)
}

// TestFullDisk writes until the disk is full, and again once it is not.
func TestFullDisk(t *testing.T) {
	t.Parallel()

	h := newHistory(t)
	h.open()
	h.set(3)
	h.disk.Space(used(t, h) + 300<<10)
	made := h.asked.Load()
	refused := h.fill()
	if !errors.Is(refused, log.ErrNoSpace) || !strings.Contains(refused.Error(), "free space on the disk of") {
		t.Errorf("Who writes is told what to do.\nWrite(...): got %v, want %v", refused, log.ErrNoSpace)
	}
	if h.asked.Load() == made {
		t.Error("Some writes fit.")
	}
	if diff := cmp.Diff(want(h.answered.Load()), state(t, h.log)); diff != "" {
		t.Errorf("Reads go on, and nothing of what was refused is there.\nList(all) (-want +got):\n%s", diff)
	}
	if again := h.fill(); !errors.Is(again, log.ErrNoSpace) {
		t.Errorf("It stays refused as long as there is no space.\nWrite(...): got %v, want %v", again, log.ErrNoSpace)
	}
	h.disk.Space(1 << 30)
	h.set(20)
	h.close()
	h.open()
	if diff := cmp.Diff(want(h.answered.Load()), state(t, h.log)); diff != "" {
		t.Errorf("Once there is space, writes are accepted again.\nList(all) (-want +got):\n%s", diff)
	}
	h.close()
	whole(t, "The file is whole.", h.cfg.File)
}

// TestFullOfItsOwn changes one object until the write-ahead log has filled the disk. It is moved then, and changes go on in the space that it has.
func TestFullOfItsOwn(t *testing.T) {
	t.Parallel()

	h := newHistory(t)
	h.open()
	h.large(false)
	h.large(true)
	h.close() // The file has its size, and much of it is unused.
	h.open()
	h.disk.Space(used(t, h) + 1<<20)
	result, err := h.log.Write(t.Context(), log.Change{Key: "/hot", Value: make([]byte, 8<<10)})
	change := func() error {
		next, err := h.log.Write(t.Context(), log.Change{Key: "/hot", Value: make([]byte, 8<<10), Revision: result.Revision})
		if err == nil {
			result = next
		}

		return err
	}
	for n := 0; err == nil && n < 10_000; n++ {
		err = change()
	}
	if !errors.Is(err, log.ErrNoSpace) {
		t.Fatalf("Write(/hot): got %v, want %v", err, log.ErrNoSpace)
	}
	tick, late := time.NewTicker(10*time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	for err != nil {
		select {
		case <-tick.C:
			err = change()
		case <-late:
			t.Fatalf("What is needed is less than what is there.\nWrite(/hot): got %v", err)
		}
	}
	for range 100 {
		// It is full again every hundred changes or so.
		if err := change(); err != nil {
			break
		}
	}
	list, err := h.log.List(t.Context(), log.Read{Range: log.Range{Key: "/hot"}})
	if err != nil || len(list.Records) != 1 || list.Records[0].Revision != result.Revision {
		t.Errorf("It is as the last change that was made has left it.\nList(/hot): got %v, %v, want revision %d", list.Records, err, result.Revision)
	}
	h.disk.Space(1 << 30)
	h.close()
	whole(t, "The file is whole.", h.cfg.File)
}

// fill makes steps until one is refused.
func (h *history) fill() error {
	h.t.Helper()
	for range 10_000 {
		step := h.asked.Load() + 1
		if _, err := h.log.Write(h.t.Context(), log.Change{Key: key(step), Value: []byte(value(step)), Revision: h.log.Head(key(step))}); err != nil {
			return err
		}
		h.asked.Store(step)
		h.answered.Store(step)
	}

	return nil
}

// state is what a log holds of the steps.
func state(t *testing.T, l *log.Log) map[string]string {
	t.Helper()
	list, err := l.List(t.Context(), log.Read{Range: log.Range{Key: "/key/", End: "/key0"}})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, r := range list.Records {
		found[r.Key] = string(r.Value)
	}

	return found
}

// used is the size of all files together.
func used(t *testing.T, h *history) (bytes int64) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(h.cfg.File))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
	}

	return bytes
}

// TestStartOnFullDisk starts with less space than that takes, each time a little more, and then with enough.
func TestStartOnFullDisk(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		prepare func(h *history)
	}{
		"FirstStart": {reason: "A start that had no space is repeated.", prepare: func(*history) {}},
		"TakeOver":   {reason: "A file of Kine's is what it was until it is taken over.", prepare: func(h *history) { h.kine(100) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newHistory(t)
			tc.prepare(h)
			least, refusals := used(t, h), 0
			for more := int64(0); ; more += 8 << 10 {
				h.disk.Space(least + more)
				l, err := log.Open(t.Context(), h.cfg)
				if err == nil {
					h.log = l

					break
				}
				refusals++
				if !errors.Is(err, log.ErrNoSpace) || !strings.Contains(err.Error(), h.cfg.File) {
					t.Errorf("%s\nOpen(...) with %d bytes: got %v, want %v and the file", tc.reason, more, err, log.ErrNoSpace)
				}
			}
			if refusals == 0 {
				t.Error("Without space, nothing starts.")
			}
			h.disk.Space(1 << 30)
			h.set(10)
			if diff := cmp.Diff(want(h.answered.Load()), state(t, h.log)); diff != "" {
				t.Errorf("%s\nList(all) (-want +got):\n%s", tc.reason, diff)
			}
			h.close()
			whole(t, tc.reason, h.cfg.File)
			t.Logf("%d starts were refused", refusals)
		})
	}
}

// TestPowerCut shows that a disk loses what was not synced: without that, the other tests would prove nothing.
func TestPowerCut(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	d, err := disk.New(filepath.Join(dir, "db"), filepath.Join(dir, "synced"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	file := filepath.Join(dir, "db", "one.db")
	var calls atomic.Int64
	d.Look(func() { calls.Add(1) })
	db := connect(t, file+"?_synchronous=OFF")
	for _, statement := range []string{"CREATE TABLE t (x)", "INSERT INTO t VALUES (1)"} {
		if _, err := db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(dir, "left")
	copyAll(t, filepath.Join(dir, "db"), left)
	if err := disk.PowerCut(left, filepath.Join(dir, "synced"), 0); err != nil {
		t.Fatal(err)
	}
	if calls.Load() == 0 {
		t.Error("SQLite's calls come this way.")
	}
	var count int
	if err := connect(t, filepath.Join(left, "one.db")).QueryRow("SELECT COUNT(*) FROM t").Scan(&count); err == nil { //nolint:noctx // A test.
		t.Errorf("What nobody has synced is lost: got %d rows", count)
	}
}
