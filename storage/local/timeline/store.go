// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
	"k8s.io/utils/clock"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
)

// Entry is what is kept. A store sets the name and the namespace of entries that are added.
type Entry = gardenappliancev1alpha1.TimelineEntry

var (
	// ErrClosed says that the store is closed.
	ErrClosed = errors.New("the timeline is closed")
	// ErrFull says that entries were dropped, because more of them arrive than the disk takes.
	ErrFull = errors.New("too many entries wait to be written to the timeline, try again later")
	// ErrExpired says that a watch has missed entries that have been removed.
	ErrExpired = errors.New("the timeline does not go back that far")
)

const (
	// fileName is the name of the file in the directory of the store.
	fileName = "timeline.db"
	// openTimeout is how long another process may hold the file.
	openTimeout = 2 * time.Second
	// maxWaiting is the number of entries that may wait to be written, and maxWaitingBytes about how much memory they may take. Usual
	// entries reach the number first, but some have many errors with long texts.
	maxWaiting      = 20_000
	maxWaitingBytes = 32 << 20
	// maxTransaction is the number of entries that are written in one transaction, and maxTransactionBytes about how much memory they may
	// take, because a transaction keeps all that it writes. What was added together is not divided.
	maxTransaction      = 2_000
	maxTransactionBytes = 4 << 20
	// linger is how long entries wait for others if nobody waits for them: each transaction costs two flushes of the disk.
	linger = 250 * time.Millisecond
)

// Config configures a store. All fields but Failed are required.
type Config struct {
	// Dir is the directory of the file. It is created if it is missing.
	Dir string
	// Keep is how long entries are kept.
	Keep time.Duration
	// MaxBytes is how much of the file may be in use. Beyond that the oldest entries of those who use most are removed.
	MaxBytes int64
	// Clock is the clock for the age of entries.
	Clock clock.WithTicker
	// Failed is told of errors of the background writer, which tries again, and of entries that were left out or are damaged.
	Failed func(err error)
}

// Store is a timeline. Its methods are safe for concurrent use.
type Store struct {
	config Config
	db     *bolt.DB
	// used belongs to the writer, and so do the time when pages were given back, and the number up to which entries were in the future.
	used     usage
	returned time.Time
	passed   uint64
	// settled says that the clock has been set for some minutes, if it ever is.
	settled bool

	mu      sync.Mutex
	waiting []pending
	entries int
	weight  int64
	dropped int64
	closed  bool
	// damaged are the entries that Failed was told of because they cannot be decoded.
	damaged map[uint64]bool
	// changed is closed and replaced after each write.
	changed chan struct{}

	wake    chan wake
	stop    chan struct{}
	stopped chan struct{}
}

// pending are entries that wait to be written; done is nil if nobody waits for them.
type pending struct {
	entries []*Entry
	weight  int64
	done    chan error
}

type wake struct{ now bool }

// mapped is the address space for a file of at most so many bytes in use, with room for what is written while it is copied and nothing of
// it can be removed. A file that grows beyond it waits for the end of all copies and reads.
func mapped(most int64) int { return int(min(2*most, math.MaxInt)) }

// Open opens the file, or creates it. Close has to be called.
func Open(c Config) (*Store, error) {
	if c.Failed == nil {
		c.Failed = func(error) {}
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open timeline: %w", err)
	}
	path := filepath.Join(c.Dir, fileName)
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: openTimeout, FreelistType: bolt.FreelistMapType, InitialMmapSize: mapped(c.MaxBytes)})
	if err != nil {
		return nil, fmt.Errorf("open timeline %q: %w; if the file is damaged, move it away and start again: the garden loses its "+
			"history and nothing else", path, err)
	}
	used, err := prepare(db, c.Failed)
	if err != nil {
		return nil, fmt.Errorf("open timeline %q: %w", path, errors.Join(err, db.Close()))
	}
	s := &Store{
		config: c, db: db, used: used, changed: make(chan struct{}),
		wake: make(chan wake, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go s.run()

	return s, nil
}

// prepare brings a file into the form of this version, and counts what is in it.
func prepare(db *bolt.DB, failed func(error)) (used usage, err error) {
	if err := db.Update(createBuckets); err != nil {
		return nil, err
	}
	if err := adopt(db, failed); err != nil {
		return nil, err
	}
	err = db.View(func(tx *bolt.Tx) error {
		used, err = usageOf(tx)

		return err
	})

	return used, err
}

// Close writes what waits and closes the file.
func (s *Store) Close() error {
	s.mu.Lock()
	already := s.closed
	s.closed = true
	s.mu.Unlock()
	if already {
		return nil
	}
	close(s.stop)
	<-s.stopped
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close timeline: %w", err)
	}

	return nil
}

// Append adds entries and returns when they are on the disk. If ctx ends before, they may be added or not.
func (s *Store) Append(ctx context.Context, entries ...*Entry) error {
	if len(entries) == 0 {
		return nil
	}
	done := make(chan error, 1)
	if err := s.enqueue(pending{entries: entries, done: done}); err != nil {
		return err
	}
	s.signal(wake{now: true})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Offer adds entries soon, and never waits. If too many entries wait already, it drops these, and Failed is told of how many.
func (s *Store) Offer(entries ...*Entry) {
	if len(entries) == 0 {
		return
	}
	if err := s.enqueue(pending{entries: entries}); err != nil {
		return
	}
	s.signal(wake{})
}

// Lost counts entries that the caller had to leave out. They are told of with those that Offer has dropped.
func (s *Store) Lost(entries int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropped += entries
}

func (s *Store) enqueue(p pending) error {
	p.weight = WeightOf(p.entries)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.entries+len(p.entries) > maxWaiting || s.weight+p.weight > maxWaitingBytes {
		s.dropped += int64(len(p.entries))

		return ErrFull
	}
	s.waiting = append(s.waiting, p)
	s.entries += len(p.entries)
	s.weight += p.weight

	return nil
}

// signal wakes the writer. A signal to write now replaces one to write soon.
func (s *Store) signal(w wake) {
	for {
		select {
		case s.wake <- w:
			return
		default:
		}
		select {
		case before := <-s.wake:
			w.now = w.now || before.now
		default:
		}
	}
}
