// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
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
