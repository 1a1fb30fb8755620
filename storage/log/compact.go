// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const (
	// stepRevisions is the number of revisions that one step of compaction goes over while nobody writes.
	stepRevisions = 500
	// stepFactor is the number of revisions that it goes over for each record of the batch that it joins: more than one,
	// so that it gains on the writes, and few, so that it does not delay them.
	stepFactor = 2
	// markInterval is how often the writer notes which revision is current, and markShare after which part of MaxBytes it does so earlier.
	markInterval = 5 * time.Second
	markShare    = 16
	// freePages is the number of unused pages of 4 KiB below which the file is not made smaller.
	freePages = 1024
	// shrinkPages is the number of pages given back in one step.
	shrinkPages = 256
)

// mark says which revision was current at a time, and how much was stored by then.
type mark struct {
	at               time.Time
	revision, stored int64
}

// note remembers the current revision, so that it is known later how old it is.
func (l *Log) note() {
	now, stored := l.cfg.Clock.Now(), l.stored.Load()
	if n := len(l.marks); n == 0 || now.Sub(l.marks[n-1].at) >= markInterval || stored-l.marks[n-1].stored >= l.cfg.MaxBytes/markShare {
		l.marks = append(l.marks, mark{at: now, revision: l.published, stored: stored})
	}
}

// step is one step of compaction.
type step struct {
	// compacted is the revision up to which past states are no longer kept, afterwards.
	compacted int64
	// from and swept delimit the revisions whose replaced records the step removes.
	from, swept int64
	// more says that further steps are needed.
	more bool
	// raised says that compacted has changed.
	raised bool
}

func (s step) idle() bool { return s.swept == s.from && !s.raised }

// nextStep decides what to remove together with a number of new records.
func (l *Log) nextStep(records int) step {
	l.note()
	target := max(l.compacted, l.due())
	limit := int64(stepRevisions)
	if records > 0 {
		limit = min(limit, int64(stepFactor*records))
	}
	free := l.free(target)
	swept := min(free, l.swept+limit)

	return step{compacted: target, from: l.swept, swept: swept, more: swept < free, raised: target > l.compacted}
}

// free is the revision up to which records can be removed from the file: all that is compacted but is not held.
func (l *Log) free(compacted int64) int64 {
	held := l.held.Load()
	if held == nothing || l.published-held > l.cfg.HeldRevisions || l.stored.Load()-l.heldAt.Load() > l.cfg.HeldBytes {
		return compacted
	}

	return max(l.swept, min(compacted, held))
}

// due is the revision up to which the configuration lets past states go.
func (l *Log) due() int64 {
	old := int64(0)
	deadline := l.cfg.Clock.Now().Add(-l.cfg.Retain)
	stored := l.stored.Load()
	for len(l.marks) > 0 && (!l.marks[0].at.After(deadline) || stored-l.marks[0].stored > l.cfg.MaxBytes) {
		old = l.marks[0].revision
		l.marks = l.marks[1:]
	}
	old = max(old, l.aged, l.published-l.cfg.MaxRevisions)
	l.aged = old

	return min(old, l.published-l.cfg.MinRevisions)
}

// sweep carries out a step in a transaction.
func (l *Log) sweep(ctx context.Context, tx *sql.Tx, s step) error {
	if s.idle() {
		return nil
	}
	for _, statement := range []*sql.Stmt{l.file.sweepOld, l.file.sweepDeleted} {
		//nolint:sqlclosecheck // The end of the transaction closes it.
		if _, err := tx.StmtContext(ctx, statement).ExecContext(ctx, s.from, s.swept); err != nil {
			return fmt.Errorf("remove old records: %w", err)
		}
	}
	for name, value := range map[string]int64{"compacted": s.compacted, "swept": s.swept} {
		_, err := tx.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
		if err != nil {
			return fmt.Errorf("note compaction: %w", err)
		}
	}

	return nil
}

// shrink gives unused space back to the file system, a little at a time, where much of the file is unused.
func (l *Log) shrink(ctx context.Context) {
	free, err := pragma(ctx, l.file.writer, "freelist_count")
	if err != nil || free < freePages {
		return
	}
	total, err := pragma(ctx, l.file.writer, "page_count")
	if err != nil || free < total/4 {
		return
	}
	if err := l.file.giveBack(ctx); err != nil {
		l.cfg.Log.Error(err, "Unused space was not given back; this is tried again", "file", l.cfg.File)
	}
}

// giveBack frees some pages. SQLite frees one for each row of the answer.
func (f *file) giveBack(ctx context.Context) (err error) {
	rows, err := f.writer.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", shrinkPages))
	if err != nil {
		return fmt.Errorf("give back pages: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	freed := 0
	for rows.Next() {
		freed++
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("give back pages after %d: %w", freed, err)
	}

	return nil
}
