// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/btree"
)

// What reads and writes can end with.
var (
	// ErrCompacted says that a revision is no longer kept.
	ErrCompacted = errors.New("the revision was compacted")
	// ErrFuture says that a revision is not written yet.
	ErrFuture = errors.New("the revision is not written yet")
	// ErrClosed says that the log was closed.
	ErrClosed = errors.New("the log is closed")
)

// degree is the width of the tree of keys.
const degree = 32

// Log is an open log. Its methods can be called at the same time; Close once, after everything else.
type Log struct {
	cfg  Config
	file *file

	// writes lead to the writer. stopping is closed when Close begins, stopped once the writer has ended.
	writes            chan *write
	stopping, stopped chan struct{}
	background        sync.WaitGroup
	close             func() error
	// ends receives the leases of what was published.
	ends *leases
	// written is the size of all records that were published.
	written atomic.Int64
	// stored is what these records take in the file.
	stored atomic.Int64
	// full says that the last write failed because there was no space left.
	full atomic.Bool

	// held is the revision of the last Hold, and heldAt what was stored by then.
	held, heldAt atomic.Int64

	// mu guards the published state, which only the writer changes, in one step for each batch.
	mu sync.RWMutex
	// heads is the newest state of each key that exists, by key.
	heads *btree.BTreeG[head]
	// published is the revision of the state.
	published int64
	// compacted is the revision up to which past states are no longer kept, since compactedAt.
	compacted   int64
	compactedAt time.Time
	recent      *history
	feed        *feed
	tracked     map[Range]*Tracked

	// swept is the revision up to which compaction has removed records from the file. The writer owns it.
	swept int64
	// marks say which revision was current when. The writer owns them.
	marks []mark
	// grouped is the number of changes in the last batch. The writer owns it.
	grouped int
	// aged is the revision up to which records are old enough to go. The writer owns it.
	aged int64
	// unsure says that records may be in the file that are not published, because it is not known what became of a write. The writer
	// owns it.
	unsure bool
}

// Open opens a log, and creates its file if it does not exist. A file that Kine has written is taken over. Cancelling
// ctx ends the attempt, not the open log.
func Open(ctx context.Context, cfg Config) (*Log, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	f, err := openFile(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("log %q: %w", cfg.File, withRemedy(err, cfg.File))
	}
	l := &Log{
		cfg:      cfg,
		file:     f,
		writes:   make(chan *write, cfg.BatchWrites),
		stopping: make(chan struct{}),
		stopped:  make(chan struct{}),
		ends:     newLeases(cfg.Clock),
		heads:    btree.NewG(degree, func(a, b head) bool { return a.key < b.key }),
		recent:   newHistory(cfg.HistoryBytes),
		feed:     newFeed(cfg.PendingBytes),
		tracked:  map[Range]*Tracked{},
	}
	l.held.Store(nothing)
	failedWrites.WithLabelValues(l.store()) // It is shown before the first failure.
	l.close = sync.OnceValue(l.end)
	if err := l.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("log %q: %w", cfg.File, withRemedy(err, cfg.File)), f.close())
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(l.stopped)
		// What was handed over before the log is closed is still made.
		l.write(context.WithoutCancel(ctx))
	}()
	for _, run := range []func(context.Context){l.expire, l.checkpoint} {
		l.background.Go(func() { run(life) })
	}
	go func() {
		<-l.stopping
		end()
	}()

	return l, nil
}

// load reads the newest state of each key and the revisions.
func (l *Log) load(ctx context.Context) error {
	is, err := l.file.revisions(ctx)
	if err != nil {
		return err
	}
	l.published, l.compacted, l.swept = is.newest, is.compacted, is.swept

	return l.file.heads(ctx, func(h head) {
		l.heads.ReplaceOrInsert(h)
		l.ends.set(h)
	})
}

// Close refuses further writes, ends the watches, waits for what runs, and leaves the log in its one file. Later calls
// return what the first one did.
func (l *Log) Close() error { return l.close() }

func (l *Log) end() error {
	close(l.stopping)
	<-l.stopped
	l.background.Wait()
	l.mu.Lock()
	l.feed.close()
	l.mu.Unlock()

	return l.file.close()
}

// Revision returns the published revision.
func (l *Log) Revision() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()

	return l.published
}

// Size returns the bytes that the records take in the file.
func (l *Log) Size(ctx context.Context) (int64, error) { return l.file.size(ctx) }

// Written returns the size of all records that were published since the log was opened, as the history in memory counts it.
func (l *Log) Written() int64 { return l.written.Load() }

// HistoryBytes is the size of the newest records that are kept in memory.
func (l *Log) HistoryBytes() int64 { return l.cfg.HistoryBytes }

// Path returns the path of the file.
func (l *Log) Path() string { return l.cfg.File }

// LastCompaction returns what Compacted does, and when it became so; the time is zero if it was not since the log was opened.
func (l *Log) LastCompaction() (revision int64, at time.Time) {
	l.mu.RLock()
	defer l.mu.RUnlock()

	return l.compacted, l.compactedAt
}

// Compacted returns the revision up to which past states are no longer kept.
func (l *Log) Compacted() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()

	return l.compacted
}
