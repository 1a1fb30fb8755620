// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
)

// Export is the state of a log at one revision, for a copy of it. It holds a read transaction of SQLite on a connection of its
// own: reads and writes of the log go on beside it, and it sees none of what is committed after it was opened. Until it is
// closed, the write-ahead log cannot begin anew.
type Export struct {
	db *sql.DB
	tx *sql.Tx
	is revisions
}

// Export opens an export of what is committed now. Close has to be called.
func (l *Log) Export(ctx context.Context) (*Export, error) {
	db := connect(l.cfg.File, 1, url.Values{"_query_only": {"true"}})
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("begin export: %w", err), db.Close())
	}
	e := &Export{db: db, tx: tx}
	// The first read decides which state the transaction sees.
	if e.is, err = readRevisions(ctx, tx); err != nil {
		return nil, errors.Join(err, e.Close())
	}

	return e, nil
}

// Close ends the export.
func (e *Export) Close() error { return errors.Join(ignoreDone(e.tx.Rollback()), e.db.Close()) }

// Revision is the revision of the state.
func (e *Export) Revision() int64 { return e.is.newest }

// Sum is the checksum of the record of a revision, 0 if there is none or it is no longer there. Where it differs, the log has another history
// than the one that the checksum is from.
func (e *Export) Sum(ctx context.Context, revision int64) (sum int64, err error) {
	err = e.tx.QueryRowContext(ctx, `SELECT COALESCE((SELECT sum FROM log WHERE id = ?), 0)`, revision).Scan(&sum)
	if err != nil {
		return 0, fmt.Errorf("read checksum of record %d: %w", revision, err)
	}

	return sum, nil
}

// nothing is what is held before the first Hold.
const nothing = -1

// Hold keeps in the file what was written after a revision, for an export that goes on from there, until the next call. It does not change
// which past states can be read. What was removed before stays so, and with more than HeldRevisions after it the revision is not held any
// longer, nor with more than HeldBytes: Since returns ErrCompacted then.
func (l *Log) Hold(after int64) {
	after = max(after, 0)
	if l.held.Load() != after {
		l.heldAt.Store(l.stored.Load())
		l.held.Store(after)
	}
}

// Release ends a hold.
func (l *Log) Release() { l.held.Store(nothing) }

const (
	textAllNewest = `SELECT ` + columns + `, value, sum FROM log
		WHERE id IN (SELECT MAX(id) FROM log GROUP BY name) AND NOT deleted ORDER BY id`
	textSince = `SELECT ` + columns + `, value, sum FROM log WHERE id > ? ORDER BY id`
)

// State calls a function for the newest record of each key that exists, in the order of revisions. It ends with ErrDamaged at a
// record that is damaged: a copy of it would have a checksum that is right.
func (e *Export) State(ctx context.Context, each func(*Record) error) error {
	return e.records(ctx, each, textAllNewest)
}

// Since calls a function for all records after a revision, deletions included, in the order of revisions. It returns
// ErrCompacted if some of them were removed already, ErrFuture if the log has not reached the revision, and ErrDamaged as State.
func (e *Export) Since(ctx context.Context, after int64, each func(*Record) error) error {
	switch {
	case after < e.is.swept:
		return ErrCompacted
	case after > e.is.newest:
		return ErrFuture
	}

	return e.records(ctx, each, textSince, after)
}

func (e *Export) records(ctx context.Context, each func(*Record) error, text string, args ...any) (err error) {
	rows, err := e.tx.QueryContext(uninterrupted(ctx), text, args...)
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read records: %w", err)
		}
		r, err := scan(rows)
		if err != nil {
			return err
		}
		if err := each(r); err != nil {
			return err
		}
	}

	return rows.Err()
}
