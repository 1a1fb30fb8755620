// SPDX-License-Identifier: Apache-2.0

package disk_test

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3" // Registers itself.

	"github.com/terrarium-garden/terrarium/storage/log"
	"github.com/terrarium-garden/terrarium/tests/faults/disk"
)

// history is a log that one client writes to, key by key, and what the client knows of it.
type history struct {
	t    *testing.T
	disk *disk.Disk
	cfg  log.Config
	log  *log.Log
	// asked and answered count the steps that were begun and that are known to be made.
	asked, answered atomic.Int64
	images          []image
}

// image is a copy of everything at one moment: what the kernel has, and what was synced.
type image struct {
	dir             string
	asked, answered int64
}

// TestEveryMoment takes copies of the files before calls of SQLite's that change one, as a kill leaves them and as a power cut
// does, and opens them. Each copy has to be whole, and hold the beginning of the history: all that was answered, and
// nothing that was not asked for.
func TestEveryMoment(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// every says how many calls there are to an image.
		every   int
		prepare func(h *history)
		run     func(h *history)
	}{
		"FirstStart": {
			reason: "A first start can be repeated.",
			every:  3,
			run: func(h *history) {
				h.open()
				h.set(5)
				h.close()
			},
		},
		"TakeOver": {
			reason:  "A file of Kine's is taken over wholly or not at all, and can be rewritten again.",
			every:   12,
			prepare: func(h *history) { h.kine(200) },
			run: func(h *history) {
				h.open()
				h.set(5)
				h.close()
			},
		},
		"Commit": {
			reason:  "What was answered is there, and the past goes without the present.",
			every:   16,
			prepare: func(h *history) { h.open(); h.set(30) },
			run: func(h *history) {
				h.set(60)
				h.close()
			},
		},
		"Checkpoint": {
			reason:  "What is moved from one file to the other is in one of them.",
			every:   60,
			prepare: func(h *history) { h.cfg.WALBytes = 100 << 10; h.open(); h.set(30) },
			run:     func(h *history) { h.set(100) },
		},
		"Vacuum": {
			reason: "Giving space back takes nothing else away.",
			every:  60,
			prepare: func(h *history) {
				h.cfg.WALBytes = 256 << 10
				h.open()
				h.set(10)
				h.large(false)
			},
			run: func(h *history) {
				h.large(true)
				h.set(10)
				h.shrunk()
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newHistory(t)
			if tc.prepare != nil {
				tc.prepare(h)
			}
			h.record(tc.every)
			tc.run(h)
			h.disk.Look(nil)
			if h.log != nil {
				h.close()
			}
			if len(h.images) < 10 {
				t.Errorf("SQLite is looked at: got %d images", len(h.images))
			}
			for _, i := range h.images {
				for _, left := range []float64{1, 0, 0.5, 0.9} {
					h.judge(tc.reason, i, left)
				}
			}
			t.Logf("%d moments", len(h.images))
		})
	}
}

func newHistory(t *testing.T) *history {
	t.Helper()
	dir := t.TempDir()
	h := &history{t: t}
	var err error
	if h.disk, err = disk.New(filepath.Join(dir, "db"), filepath.Join(dir, "synced")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.disk.Release)
	h.cfg = log.NewConfig(filepath.Join(dir, "db", "objects.db"))
	// What is replaced goes at once.
	h.cfg.MinRevisions, h.cfg.MaxRevisions = 1, 1

	return h
}

func (h *history) open() {
	h.t.Helper()
	var err error
	if h.log, err = log.Open(h.t.Context(), h.cfg); err != nil {
		h.t.Fatalf("Open(...): %v", err)
	}
}

func (h *history) close() {
	h.t.Helper()
	if err := h.log.Close(); err != nil {
		h.t.Fatalf("Close(): %v", err)
	}
	h.log = nil
}

// key and value are those of a step. Every third step replaces what an earlier one has written.
func key(step int64) string   { return fmt.Sprintf("/key/%05d", step-step%3) }
func value(step int64) string { return fmt.Sprintf("%d %s", step, strings.Repeat("x", 700)) }

// want is the state after so many steps.
func want(steps int64) map[string]string {
	state := map[string]string{}
	for step := int64(1); step <= steps; step++ {
		state[key(step)] = value(step)
	}

	return state
}

// set makes steps.
func (h *history) set(steps int) {
	h.t.Helper()
	for range steps {
		step := h.asked.Add(1)
		result, err := h.log.Write(h.t.Context(), log.Change{Key: key(step), Value: []byte(value(step)), Revision: h.log.Head(key(step))})
		if err != nil || !result.Applied {
			h.t.Fatalf("Write(step %d): got %+v, %v", step, result, err)
		}
		h.answered.Store(step)
	}
}

// large writes much, or removes it.
func (h *history) large(remove bool) {
	h.t.Helper()
	for n := range 64 {
		change := log.Change{Key: fmt.Sprintf("/large/%d", n), Value: make([]byte, 100<<10)}
		if remove {
			change.Delete, change.Revision = true, log.Any
		}
		if _, err := h.log.Write(h.t.Context(), change); err != nil {
			h.t.Fatal(err)
		}
	}
}

// kine makes a file as Kine's, of so many steps.
func (h *history) kine(steps int64) {
	h.t.Helper()
	db := connect(h.t, h.cfg.File+"?_journal_mode=WAL")
	defer func() { _ = db.Close() }()
	statements := []string{`CREATE TABLE kine (id INTEGER PRIMARY KEY AUTOINCREMENT, name INTEGER, created INTEGER, deleted INTEGER,
		create_revision INTEGER, prev_revision INTEGER, lease INTEGER, value BLOB, old_value BLOB)`}
	last := map[string]int64{}
	for step := int64(1); step <= steps; step++ {
		before := last[key(step)]
		statements = append(statements, fmt.Sprintf(
			`INSERT INTO kine (name, created, deleted, create_revision, prev_revision, lease, value) VALUES ('%s', %t, 0, %d, %d, 0, '%s')`,
			key(step), before == 0, before, before, value(step)))
		last[key(step)] = step
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(h.t.Context(), statement); err != nil {
			h.t.Fatal(err)
		}
	}
	h.asked.Store(steps)
	h.answered.Store(steps)
}

// shrunk waits until space was given back.
func (h *history) shrunk() {
	h.t.Helper()
	began, most := time.Now(), int64(0)
	for {
		info, err := os.Stat(h.cfg.File)
		if err != nil || time.Since(began) > time.Minute {
			h.t.Fatalf("Space is given back: %v, %d bytes after %s", err, info.Size(), time.Since(began))
		}
		if most = max(most, info.Size()); info.Size() < most-1<<20 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// record takes an image before one of so many calls from now on, each time other ones.
func (h *history) record(every int) {
	images, calls := h.t.TempDir(), rand.IntN(every)
	dir := filepath.Dir(h.cfg.File)
	h.disk.Look(func() {
		if calls++; calls%every != 0 {
			return
		}
		i := image{dir: filepath.Join(images, fmt.Sprint(len(h.images))), asked: h.asked.Load(), answered: h.answered.Load()}
		copyAll(h.t, dir, filepath.Join(i.dir, "db"))
		copyAll(h.t, filepath.Join(filepath.Dir(dir), "synced"), filepath.Join(i.dir, "synced"))
		h.images = append(h.images, i)
	})
}

func copyAll(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Error(err)
	}
}

// judge opens a copy of an image, of which some part of what was not synced has reached the disk.
func (h *history) judge(reason string, i image, reached float64) {
	h.t.Helper()
	dir := filepath.Join(h.t.TempDir(), "image")
	copyAll(h.t, i.dir, dir)
	if reached < 1 {
		if err := disk.PowerCut(filepath.Join(dir, "db"), filepath.Join(dir, "synced"), reached); err != nil {
			h.t.Fatal(err)
		}
	} else if err := os.RemoveAll(filepath.Join(dir, "db", "objects.db-shm")); err != nil {
		h.t.Fatal(err)
	}
	cfg := log.NewConfig(filepath.Join(dir, "db", "objects.db"))
	l, err := log.Open(h.t.Context(), cfg)
	if err != nil {
		h.t.Errorf("%s\nafter %d of %d steps, %.1f of what was not synced: Open(...): %v", reason, i.answered, i.asked, reached, err)

		return
	}
	found := state(h.t, l)
	if diff := cmp.Diff(want(i.answered), found); diff != "" && !maps.Equal(found, want(i.asked)) {
		h.t.Errorf("%s\nafter %d of %d steps, %.1f of what was not synced (-want +got):\n%s", reason, i.answered, i.asked, reached, diff)
	}
	if _, err := l.Write(h.t.Context(), log.Change{Key: "/next"}); err != nil {
		h.t.Errorf("%s\nWrite(...): %v", reason, err)
	}
	if err := l.Close(); err != nil {
		h.t.Errorf("%s\nClose(): %v", reason, err)
	}
	whole(h.t, reason, cfg.File)
}

// whole asks SQLite whether a file is.
func whole(t *testing.T, reason, file string) {
	t.Helper()
	var verdict string
	if err := connect(t, file).QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("%s\nintegrity_check: got %q, %v", reason, verdict, err)
	}
}

func connect(t *testing.T, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })

	return db
}
