// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestFollowersMissNothing lets followers start anywhere, be slow, and fall behind what is in memory, while many write.
func TestFollowersMissNothing(t *testing.T) {
	t.Parallel()

	const writers, each, followers = 8, 100, 9
	cfg := config(t)
	cfg.HistoryBytes, cfg.PendingBytes = 20_000, 5_000
	l := open(t, cfg)
	// last is the revision of the last write, 0 before.
	var last atomic.Int64
	var writing, following sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for range each {
				writeAnything(t, l)
			}
		})
	}
	received := make([][]*log.Record, followers)
	for i := range followers {
		following.Go(func() { received[i] = collect(t, l, rand.IntN(3) == 0, &last) })
	}
	writing.Wait()
	last.Store(apply(t, l, log.Change{Key: "/last", Value: []byte("x")}).Revision)
	following.Wait()

	for i, got := range received {
		if len(got) == 0 {
			t.Fatalf("Follower %d: got nothing", i)
		}
		from := got[0].Revision
		for n, r := range got {
			if r.Revision != from+int64(n) {
				t.Fatalf("Every record is received once and in order.\nFollower %d, record %d: got revision %d, want %d", i, n, r.Revision, from+int64(n))
			}
		}
		if diff := cmp.Diff(received[0][from-received[0][0].Revision:], got); received[0][0].Revision <= from && diff != "" {
			t.Errorf("Records are the same from memory and from the file.\nFollower %d (-first +this):\n%s", i, diff)
		}
	}
}

// writeAnything makes a random change, which may be refused.
func writeAnything(t *testing.T, l *log.Log) {
	t.Helper()
	change := log.Change{Key: key(rand.IntN(20)), Value: []byte("some value of some size")}
	list, err := l.List(t.Context(), log.Read{Range: log.Range{Key: change.Key}})
	if err != nil {
		t.Error(err)
	}
	if len(list.Records) > 0 {
		change.Revision, change.Delete = list.Records[0].Revision, rand.IntN(3) == 0
	}
	if _, err := l.Write(t.Context(), change); err != nil {
		t.Error(err)
	}
}

// collect follows all keys from the beginning until nothing is written any more. What it was told of progress must hold.
func collect(t *testing.T, l *log.Log, slow bool, last *atomic.Int64) (received []*log.Record) {
	t.Helper()
	wake := make(chan struct{}, 1)
	follower, err := l.Follow(all, 1, wake)
	if err != nil {
		t.Error(err)

		return nil
	}
	defer follower.Stop()
	told := int64(1)
	for told != last.Load() {
		select {
		case <-wake:
		case <-time.After(20 * time.Millisecond):
		}
		for more := true; more; {
			records, upTo, err := follower.Next(t.Context())
			if err != nil {
				t.Error(err)

				return received
			}
			for _, r := range records {
				if r.Revision <= told {
					t.Errorf("What was said to be complete is.\nNext(): got revision %d after progress to %d", r.Revision, told)
				}
			}
			if slow {
				time.Sleep(5 * time.Millisecond)
			}
			received, told, more = append(received, records...), upTo, len(records) > 0
		}
	}

	return received
}

// TestCompaction goes over every revision of a log of which a part was compacted.
func TestCompaction(t *testing.T) {
	t.Parallel()

	cfg := config(t)
	clock := testingclock.NewFakeClock(time.Unix(1_000_000, 0))
	cfg.Clock, cfg.MinRevisions, cfg.Retain = clock, 5, time.Minute
	l := open(t, cfg)
	want := map[int64]map[string]string{}
	for n := range 50 {
		writeAnything(t, l)
		want[l.Revision()] = state(t, l, 0)
		if n == 30 {
			clock.Step(2 * time.Minute)
		}
	}
	last := l.Revision()
	until(t, func() bool {
		clock.Step(time.Minute)

		return l.Compacted() == last-cfg.MinRevisions
	}, "What is old is compacted, but never the newest revisions.")
	end(t, l)
	l = open(t, cfg)

	for revision, want := range want {
		_, err := l.List(t.Context(), log.Read{Range: all, Revision: revision})
		switch {
		case revision < l.Compacted():
			if !errors.Is(err, log.ErrCompacted) {
				t.Errorf("A compacted state is not read in parts.\nList(revision %d): got %v, want %v", revision, err, log.ErrCompacted)
			}
		default:
			if diff := cmp.Diff(want, state(t, l, revision)); diff != "" {
				t.Errorf("What is kept is kept whole.\nList(revision %d) (-want +got):\n%s", revision, diff)
			}
		}
	}
	if _, err := l.Follow(all, l.Compacted()-1, make(chan struct{}, 1)); !errors.Is(err, log.ErrCompacted) {
		t.Errorf("Nobody follows what is no longer there.\nFollow(...): got %v, want %v", err, log.ErrCompacted)
	}
	if got := l.Revision(); got != last {
		t.Errorf("Compaction writes no records.\nRevision(): got %d, want %d", got, last)
	}
}
