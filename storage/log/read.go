// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// List is what a read returns.
type List struct {
	// Revision is the published revision when the read was made: what the read returns is at least as new as it unless a
	// past revision was asked for.
	Revision int64
	// Records are the newest states of the keys that exist, by key.
	Records []*Record
}

// Read asks for the state of a range of keys.
type Read struct {
	Range

	// Revision asks for a past state; 0 for the newest.
	Revision int64
	// Limit bounds the number of records; 0 means all.
	Limit int64
	// KeysOnly leaves the values out.
	KeysOnly bool
}

// List returns the state of a range of keys. The newest state is read from memory at one moment. Its values never change, but
// those that are only in the file may be removed when they were replaced long ago; a reader so slow starts again.
func (l *Log) List(ctx context.Context, r Read) (List, error) {
	for {
		list, past, err := l.snapshot(r)
		switch {
		case err != nil || r.KeysOnly && !past:
			return list, err
		case past:
			return l.past(ctx, r, list.Revision)
		}
		whole, err := l.fill(ctx, list.Records)
		if err != nil || whole {
			return list, err
		}
	}
}

// past reads a past state from the file.
func (l *Log) past(ctx context.Context, r Read, now int64) (list List, err error) {
	list.Revision = now
	var records []*Record
	if r.End == "" {
		records, err = l.file.recordsAt(ctx, l.file.at, r.Key, r.Revision)
	} else {
		records, err = l.file.recordsAt(ctx, l.file.atRange, r.Key, bound(r.End), r.Revision, limit(r.Limit))
	}
	if err != nil {
		return list, err
	}
	// Records of the past are removed only after compaction has said so.
	if err := l.kept(r.Revision); err != nil {
		return list, err
	}
	list.Records = records

	return list, nil
}

// Count returns how many keys of a range exist.
func (l *Log) Count(ctx context.Context, r Range, revision int64) (now, count int64, err error) {
	found, err := l.countNewest(r, revision)
	if err != nil || !found.past {
		return found.now, found.count, err
	}
	if err := l.file.countRange.QueryRowContext(ctx, r.Key, bound(r.End), revision).Scan(&count); err != nil {
		return found.now, 0, fmt.Errorf("count keys: %w", err)
	}

	return found.now, count, l.kept(revision)
}

// counted is the number of keys at the published revision, unless a past one was asked for.
type counted struct {
	now, count int64
	past       bool
}

func (l *Log) countNewest(r Range, revision int64) (found counted, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	found.now = l.published
	found.past, err = l.admit(revision)
	if err != nil || found.past {
		return found, err
	}
	l.ascend(r, func(head) bool {
		found.count++

		return true
	})

	return found, nil
}

// admit checks a revision that was asked for, and reports whether it is a past one. The lock must be held until the state is
// read: the newest revision is a past one as soon as the writer publishes the next.
func (l *Log) admit(revision int64) (past bool, err error) {
	switch {
	case revision > l.published:
		return false, ErrFuture
	case revision > 0 && revision < l.compacted:
		return false, ErrCompacted
	}

	return revision > 0 && revision < l.published, nil
}

// kept returns ErrCompacted if records of a revision may have been removed.
func (l *Log) kept(revision int64) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, err := l.admit(revision)

	return err
}

// snapshot returns the published state, with the values that are in memory. It is empty if a past state is asked for.
func (l *Log) snapshot(r Read) (list List, past bool, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	list.Revision = l.published
	past, err = l.admit(r.Revision)
	if err != nil || past {
		return list, past, err
	}
	l.ascend(r.Range, func(h head) bool {
		if recent := l.recent.at(h.revision); recent != nil {
			list.Records = append(list.Records, recent)
		} else {
			list.Records = append(list.Records, &Record{
				Revision: h.revision, Key: h.key, Created: h.created, Lease: h.lease, Expires: h.expires,
			})
		}

		return r.Limit == 0 || int64(len(list.Records)) < r.Limit
	})

	return list, false, nil
}

// ascend calls a function for the keys of a range, in their order, until it returns false. The lock must be held.
func (l *Log) ascend(r Range, call func(head) bool) {
	switch r.End {
	case "":
		if h, ok := l.heads.Get(head{key: r.Key}); ok {
			call(h)
		}
	case openEnd:
		l.heads.AscendGreaterOrEqual(head{key: r.Key}, call)
	default:
		l.heads.AscendRange(head{key: r.Key}, head{key: r.End}, call)
	}
}

// fill reads the values that were not in memory. It reports false if one of them is gone.
func (l *Log) fill(ctx context.Context, records []*Record) (whole bool, err error) {
	for _, r := range records {
		if r.Value != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, fmt.Errorf("read value: %w", err)
		}
		stored, err := scan(l.file.value.QueryRowContext(uninterrupted(ctx), r.Revision))
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err == nil && stored.Key != r.Key {
			err = fmt.Errorf("record %d of %q: %w", r.Revision, r.Key, ErrDamaged)
		}
		if err != nil {
			return false, fmt.Errorf("read value: %w", err)
		}
		r.Value = stored.Value
	}

	return true, nil
}

// recordsAt runs a statement that selects records.
func (f *file) recordsAt(ctx context.Context, statement *sql.Stmt, args ...any) (records []*Record, err error) {
	rows, err := statement.QueryContext(uninterrupted(ctx), args...)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		if !r.Deleted {
			records = append(records, r)
		}
	}

	return records, rows.Err()
}

// bound is what SQL compares names with: nothing is larger than what stands for an open end.
func bound(end string) string {
	if end == openEnd {
		return "\U0010FFFF"
	}

	return end
}

// limit is what SQL takes for no limit.
func limit(n int64) int64 {
	if n == 0 {
		return -1
	}

	return n
}
