// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

// TestRefusedByTheDisk has more entries wait than fit into a transaction while the disk takes none, also at the end: each of those who wait
// for theirs is told.
func TestRefusedByTheDisk(t *testing.T) {
	t.Parallel()

	const each, writers = maxTransaction * 3 / 4, 5
	for name, closes := range map[string]bool{"goes on": false, "is closed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first sync.Once
			failed, goOn := make(chan struct{}), make(chan struct{})
			s, err := Open(Config{
				Dir: t.TempDir(), Keep: time.Hour, MaxBytes: 1 << 20, Clock: clock.RealClock{},
				Failed: func(error) { first.Do(func() { close(failed); <-goOn }) },
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.db.Close(); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			all.Go(func() { refused(t, s, 1) })
			<-failed
			for range writers {
				all.Go(func() { refused(t, s, each) })
			}
			ends := make(chan error, 1)
			wait(t, s, func() bool { return s.entries == each*writers })
			if closes {
				go func() { ends <- s.Close() }()
				wait(t, s, func() bool { return s.closed })
			}
			close(goOn)
			all.Wait()
			if !closes {
				ends <- s.Close()
			}
			if err := <-ends; err != nil {
				t.Errorf("Close(): %v", err)
			}
		})
	}
}

// refused adds entries, and is told that they are not written.
func refused(t *testing.T, s *Store, entries int) {
	t.Helper()
	many := make([]*Entry, entries)
	for i := range many {
		many[i] = &Entry{Time: metav1.NewMicroTime(time.Now())}
	}
	told := make(chan error, 1)
	go func() { told <- s.Append(t.Context(), many...) }()
	select {
	case err := <-told:
		if err == nil {
			t.Errorf("Append(%d entries): nothing can be written, and no error was told", entries)
		}
	case <-time.After(time.Minute):
		t.Errorf("Append(%d entries): nobody says what became of them", entries)
	}
}

// wait waits for a condition, which holds the lock.
func wait(t *testing.T, s *Store, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		s.mu.Lock()
		done := holds()
		s.mu.Unlock()
		if done {
			return
		}
	}
}

// TestTransactionsOfLongTexts has entries wait of which few fit into a transaction: it would keep all that it writes in memory.
func TestTransactionsOfLongTexts(t *testing.T) {
	t.Parallel()
	const entries = 20
	s := &Store{}
	for range entries {
		if err := s.enqueue(pending{entries: []*Entry{{User: strings.Repeat("x", maxTransactionBytes/3)}}}); err != nil {
			t.Fatal(err)
		}
	}
	taken := 0
	for batch := s.take(); len(batch) > 0; batch = s.take() {
		if taken += len(batch); len(batch) > 2 {
			t.Errorf("%d entries in one transaction, want 2", len(batch))
		}
	}
	if taken != entries || s.entries != 0 || s.weight != 0 {
		t.Errorf("%d entries were taken, and %d of %d bytes are left", taken, s.entries, s.weight)
	}
}

// TestPruneWhileWritesWait has a disk that is slower than what is to be written: there is a write that waits whenever old entries could be
// removed.
func TestPruneWhileWritesWait(t *testing.T) {
	t.Parallel()
	db, err := bolt.Open(filepath.Join(t.TempDir(), fileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	used, err := prepare(db, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	s := &Store{
		config: Config{Keep: time.Hour, MaxBytes: 1 << 20, Clock: testclock.NewFakeClock(now), Failed: func(err error) { t.Error(err) }},
		db:     db, used: used, waiting: []pending{{}},
	}
	old := make([]*Entry, 2*pruneEntries)
	for i := range old {
		old[i] = &Entry{Time: metav1.NewMicroTime(now.Add(-2 * time.Hour))}
	}
	if err := db.Update(func(tx *bolt.Tx) error { return write(tx, []pending{{entries: old}}, s.used) }); err != nil {
		t.Fatal(err)
	}
	left := func() (n int) {
		if err := db.View(func(tx *bolt.Tx) error { n = numbersOf(tx).Stats().KeyN; return nil }); err != nil {
			t.Error(err)
		}

		return n
	}
	if s.prune(); left() != len(old) {
		t.Errorf("%d entries are left, want all: the clock may not be set yet", left())
	}
	s.settled = true
	for _, want := range []int{pruneEntries, 0} {
		if s.prune(); left() != want {
			t.Errorf("%d entries are left, want %d: some are removed, and then the write has its turn", left(), want)
		}
	}

	// Writes that never end do not keep it from being removed.
	if err := db.Update(func(tx *bolt.Tx) error { return write(tx, []pending{{entries: old}}, s.used) }); err != nil {
		t.Fatal(err)
	}
	s.changed, s.waiting = make(chan struct{}), []pending{{entries: []*Entry{{Time: metav1.NewMicroTime(now)}}}}
	if s.flush(); left() != 1 {
		t.Errorf("%d entries are left after a write, want that alone", left())
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
