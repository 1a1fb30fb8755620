// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// batch is a number of changes that are made together. Each is judged against the published state and what the batch
// has changed before it.
type batch struct {
	log     *Log
	writes  []*write
	results []written
	records []*Record
	// changed are the records of the batch by key.
	changed map[string]*Record
}

func newBatch(l *Log) *batch { return &batch{log: l, changed: map[string]*Record{}} }

// judge decides about one change and appends its record if it is made.
func (b *batch) judge(w *write) {
	b.writes = append(b.writes, w)
	result := written{}
	now, exists := b.newest(w.Key)
	switch {
	case w.Delete && w.Revision == Any && exists, exists && now.revision == w.Revision, !exists && w.Revision == 0 && !w.Delete:
		result.Applied, result.Record = true, b.append(w, now)
		result.Revision = result.Record.Revision
	default:
		result.Found = now.revision
	}
	b.results = append(b.results, result)
}

// newest is the state of a key as the batch has left it. The writer is the only one who changes the published state, so
// it can read it without the lock.
func (b *batch) newest(key string) (head, bool) {
	if r, ok := b.changed[key]; ok {
		if r.Deleted {
			return head{}, false
		}

		return r.head(), true
	}

	return b.log.heads.Get(head{key: key})
}

func (b *batch) append(w *write, before head) *Record {
	r := &Record{
		Revision: b.log.published + int64(len(b.records)) + 1, Key: w.Key, Deleted: w.Delete,
		Created: before.created, Previous: before.revision, PreviousCreated: before.created, PreviousLease: before.lease,
	}
	if !w.Delete {
		// A value that is there is never nil, so that it is known which ones are still to be read.
		r.Value, r.Lease = w.Value, w.Lease
		if r.Value == nil {
			r.Value = []byte{}
		}
	}
	if before.revision == 0 {
		r.Created = r.Revision
	}
	if r.Lease > 0 {
		r.Expires = b.log.cfg.Clock.Now().Unix() + r.Lease
	}
	b.records = append(b.records, r)
	b.changed[w.Key] = r

	return r
}

// store writes the records, together with one step of compaction, and syncs them to the disk.
func (b *batch) store(ctx context.Context, s step) (err error) {
	if len(b.records) == 0 && s.idle() {
		return nil
	}
	began := b.log.cfg.Clock.Now()
	if err := b.recall(ctx); err != nil {
		return err
	}
	if len(b.records) == 1 && s.idle() {
		return b.storeAlone(ctx, began)
	}
	tx, err := b.log.file.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreDone(tx.Rollback()))
		}
	}()
	insert := tx.StmtContext(ctx, b.log.file.insert)
	for _, r := range b.records {
		if err := r.insert(ctx, insert); err != nil {
			return err
		}
	}
	if err := b.log.sweep(ctx, tx, s); err != nil {
		return err
	}
	b.log.cfg.pause(Committing)
	if err := tx.Commit(); err != nil {
		return b.uncertain(ctx, fmt.Errorf("commit: %w", err))
	}
	b.log.measure(began, len(b.records))

	return nil
}

// storeAlone writes the only record of a batch. SQLite makes a transaction of a single statement and syncs it in the same
// way; without two more statements around it, a lone writer waits less.
func (b *batch) storeAlone(ctx context.Context, began time.Time) error {
	b.log.cfg.pause(Committing)
	if err := b.records[0].insert(ctx, b.log.file.insert); err != nil {
		return b.uncertain(ctx, err)
	}
	b.log.measure(began, 1)

	return nil
}

// insert appends the record to the file.
func (r *Record) insert(ctx context.Context, statement *sql.Stmt) error {
	_, err := statement.ExecContext(ctx, r.Revision, r.Key, r.Deleted, r.Created, r.Previous, r.Lease, r.Expires, r.Value, r.Sum())
	if err != nil {
		return fmt.Errorf("append record %d: %w", r.Revision, err)
	}

	return nil
}

// ignoreDone drops the error of a transaction that SQLite has undone by itself.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}

	return err
}

// uncertain finds out what became of a transaction whose commit failed: whatever the file now holds is what happened.
func (b *batch) uncertain(ctx context.Context, cause error) error {
	if len(b.records) == 0 {
		return cause
	}
	last := b.records[len(b.records)-1]
	is, err := b.log.file.revisions(ctx)
	if err != nil || is.newest != last.Revision {
		return errors.Join(cause, err)
	}
	// It may be the record of an earlier write of which nobody could find out that it was made.
	stored, err := scan(b.log.file.replaced.QueryRowContext(ctx, last.Revision))
	if err != nil || stored.Sum() != last.Sum() {
		return errors.Join(cause, err)
	}

	return nil
}

// recall fills in what the records replace, from memory where it is still there.
func (b *batch) recall(ctx context.Context) error {
	for _, r := range b.records {
		if r.Previous == 0 {
			continue
		}
		if r.Previous > b.log.published {
			r.PreviousValue = b.records[r.Previous-b.log.published-1].Value

			continue
		}
		value, err := b.value(ctx, r.Previous)
		if err != nil {
			return fmt.Errorf("read record %d: %w", r.Previous, err)
		}
		r.PreviousValue = value
	}

	return nil
}

// value returns what the record of a published revision holds, nil if that is not known. The file is read by the connection that writes: those
// that read may all be busy, and a write does not wait for reads.
func (b *batch) value(ctx context.Context, revision int64) (value []byte, err error) {
	if recent := b.log.recent.at(revision); recent != nil {
		return recent.Value, nil
	}
	stored, err := scan(b.log.file.replaced.QueryRowContext(ctx, revision))
	if errors.Is(err, ErrDamaged) {
		// The other writes of the batch go on, and the damaged record can be removed. What it held is not known any more, so watches that
		// have to know it end, and their clients list again.
		b.log.cfg.Log.Error(err, "A damaged record was replaced", "file", b.log.cfg.File)

		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if stored.Value == nil {
		return []byte{}, nil // It is known, and empty.
	}

	return stored.Value, nil
}

// answer tells every caller what became of its change, after it was published.
func (b *batch) answer(published int64) {
	for i, w := range b.writes {
		result := b.results[i]
		if !result.Applied {
			result.Revision = published
		}
		w.done <- result
	}
}

// fail tells every caller of the batch that nothing of it was made. Even a refusal may rest on what was not made.
func (b *batch) fail(err error) {
	err = withRemedy(err, b.log.cfg.File)
	full := errors.Is(err, ErrNoSpace)
	failedWrites.WithLabelValues(b.log.store()).Add(float64(len(b.writes)))
	// Clients try again all the time, and the log may be on the same disk: that it is full is said once.
	if was := b.log.full.Swap(full); !was || !full {
		b.log.cfg.Log.Error(err, "Writes failed", "file", b.log.cfg.File, "writes", len(b.writes))
	}
	for _, w := range b.writes {
		w.done <- written{err: err}
	}
}

// ErrNoSpace says that the disk of the file is full.
var ErrNoSpace = errors.New("no space left")
