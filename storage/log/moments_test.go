// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// gate stops the writer at a moment, once it is shut, until it is opened.
type gate struct {
	at      log.Moment
	mutex   sync.Mutex
	shut    bool
	reached chan struct{}
	open    chan struct{}
}

func newGate(at log.Moment) *gate {
	return &gate{at: at, reached: make(chan struct{}, 1), open: make(chan struct{})}
}

func (g *gate) pause(at log.Moment) {
	g.mutex.Lock()
	stop := g.shut && at == g.at
	g.mutex.Unlock()
	if !stop {
		return
	}
	select {
	case g.reached <- struct{}{}:
	default:
	}
	<-g.open
}

func (g *gate) close() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.shut = true
}

// TestCloseMakesWhatWaits closes a log while one batch is on its way to the disk and more writes wait behind it.
func TestCloseMakesWhatWaits(t *testing.T) {
	t.Parallel()

	const writers = 20
	cfg := config(t)
	gate := newGate(log.Committing)
	cfg.Pause = gate.pause
	cfg.BatchWrites = writers
	l, err := log.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	gate.close()
	var mutex sync.Mutex
	made, refused := map[string]string{}, 0
	var writing sync.WaitGroup
	for n := range writers {
		writing.Go(func() {
			result, err := l.Write(t.Context(), log.Change{Key: key(n), Value: []byte("x")})
			mutex.Lock()
			defer mutex.Unlock()
			switch {
			case err == nil && result.Applied:
				made[key(n)] = "x"
			case errors.Is(err, log.ErrClosed):
				refused++
			default:
				t.Errorf("A write is made, or refused because the log is closed.\nWrite(...): got %v, %v", result, err)
			}
		})
	}
	<-gate.reached
	closed := make(chan error, 1)
	go func() { closed <- l.Close() }()
	until(t, func() bool {
		_, err := l.Write(expired(t), log.Change{Key: "/late"})

		return errors.Is(err, log.ErrClosed)
	}, "A log that is being closed accepts no write.")
	close(gate.open)
	if err := <-closed; err != nil {
		t.Errorf("Close(): %v", err)
	}
	writing.Wait()
	if len(made) == 0 || len(made)+refused != writers {
		t.Errorf("Each write is answered: %d were made, %d refused, want %d", len(made), refused, writers)
	}
	cfg.Pause = nil
	found := state(t, open(t, cfg), 0)
	delete(found, "/late")
	if diff := cmp.Diff(made, found); diff != "" {
		t.Errorf("What was made is there.\nList(all) (-want +got):\n%s", diff)
	}
}

// expired returns a context that has just ended.
func expired(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	t.Cleanup(cancel)

	return ctx
}

// TestPastWhileItIsRemoved reads the past in the moment in which its records are gone from the file and the step that has
// removed them is not finished yet.
func TestPastWhileItIsRemoved(t *testing.T) {
	t.Parallel()

	cfg := config(t)
	gate := newGate(log.Committed)
	cfg.Clock, cfg.Pause = testingclock.NewFakeClock(time.Unix(1_000_000, 0)), gate.pause
	cfg.MinRevisions, cfg.MaxRevisions, cfg.HistoryBytes = 1, 1, 1
	l := open(t, cfg)
	a := apply(t, l, log.Change{Key: "/a", Value: []byte("first")})
	b := apply(t, l, log.Change{Key: "/a", Value: []byte("second"), Revision: a.Revision})
	apply(t, l, log.Change{Key: "/a", Value: []byte("third"), Revision: b.Revision})
	follower, err := l.Follow(all, a.Revision, make(chan struct{}, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Stop()
	if _, err := l.List(t.Context(), log.Read{Range: all, Revision: a.Revision}); err != nil {
		t.Fatalf("The past is still there.\nList(revision %d): %v", a.Revision, err)
	}
	gate.close()
	written := make(chan error, 1)
	go func() {
		_, err := l.Write(t.Context(), log.Change{Key: "/b", Value: []byte("x")})
		written <- err
	}()
	<-gate.reached

	if list, err := l.List(t.Context(), log.Read{Range: all, Revision: a.Revision}); !errors.Is(err, log.ErrCompacted) {
		t.Errorf("A past state is read whole or not at all.\nList(revision %d): got %d keys, %v, want %v", a.Revision, len(list.Records), err, log.ErrCompacted)
	}
	if records, _, err := follower.Next(t.Context()); !errors.Is(err, log.ErrCompacted) {
		t.Errorf("Who is behind misses nothing without being told.\nNext(): got %d records, %v, want %v", len(records), err, log.ErrCompacted)
	}
	close(gate.open)
	if err := <-written; err != nil {
		t.Errorf("Write(...): %v", err)
	}
}

// TestSlowDisk makes every commit last as on a disk that takes its time; those who wait share one.
func TestSlowDisk(t *testing.T) {
	t.Parallel()

	const writers, each, slow = 100, 5, 50 * time.Millisecond
	cfg := log.NewConfig(config(t).File)
	commits := 0
	cfg.Pause = func(at log.Moment) {
		if at == log.Committing {
			commits++
			time.Sleep(slow)
		}
	}
	l := open(t, cfg)
	began := time.Now()
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for n := range each {
				apply(t, l, log.Change{Key: key(w*each + n), Value: []byte("x")})
			}
		})
	}
	writing.Wait()
	t.Logf("%d writes in %s", writers*each, time.Since(began))
	end(t, l)
	// All writers but one meet in the second commit; a few may miss each other.
	if commits > 4*each {
		t.Errorf("Writes that wait share one commit.\n%d writes of %d writers: got %d commits, want about %d", writers*each, writers, commits, each+1)
	}
}

// TestEmptyValue keeps apart what is empty and what was not read yet.
func TestEmptyValue(t *testing.T) {
	t.Parallel()

	cfg := config(t)
	l := open(t, cfg)
	apply(t, l, log.Change{Key: "/a"})
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			list, err := l.List(t.Context(), log.Read{Range: all})
			if err != nil || len(list.Records) != 1 || len(list.Records[0].Value) != 0 {
				t.Errorf("An empty value is a value.\nList(all): got %v, %v", list, err)
			}
		})
	}
	reading.Wait()
}

// TestInUse opens a file a second time.
func TestInUse(t *testing.T) {
	t.Parallel()

	cfg := config(t)
	l := open(t, cfg)
	apply(t, l, log.Change{Key: "/a", Value: []byte("x")})
	if _, err := log.Open(t.Context(), cfg); !errors.Is(err, log.ErrInUse) {
		t.Errorf("Two logs would give out the same revisions.\nOpen(...): got %v, want %v", err, log.ErrInUse)
	}
	apply(t, l, log.Change{Key: "/b", Value: []byte("x")})
	end(t, l)
	if diff := cmp.Diff(map[string]string{"/a": "x", "/b": "x"}, state(t, open(t, cfg), 0)); diff != "" {
		t.Errorf("A closed log can be opened.\nList(all) (-want +got):\n%s", diff)
	}
}

// TestPageOfList asks for the first page of a list while others write: its revision is the one of what it holds.
func TestPageOfList(t *testing.T) {
	t.Parallel()

	l := open(t, config(t))
	backend := log.NewBackend(l)
	first := apply(t, l, log.Change{Key: "/a", Value: []byte("x")})
	apply(t, l, log.Change{Key: "/b", Value: []byte("x")})
	at, count, err := backend.Count(t.Context(), "/", "0", first.Revision)
	if at != first.Revision || count != 1 || err != nil {
		t.Errorf("Kine gives a page the revision that its count returns.\nCount(revision %d): got %d at revision %d, %v; want 1", first.Revision, count, at, err)
	}
}
