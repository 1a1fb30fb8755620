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

// List returns the state of a range of keys.
func (l *Log) List(ctx context.Context, r Read) (List, error) {
	now, past, err := l.admit(r.Revision)
	if err != nil {
		return List{Revision: now}, err
	}
	if !past {
		return l.newest(ctx, r)
	}
	var records []*Record
	if r.End == "" {
		records, err = l.file.recordsAt(ctx, l.file.at, r.Key, r.Revision)
	} else {
		records, err = l.file.recordsAt(ctx, l.file.atRange, r.Key, bound(r.End), r.Revision, limit(r.Limit))
	}
	if err != nil {
		return List{Revision: now}, err
	}
	// Records of the past are removed only after compaction has said so.
	if _, _, err := l.admit(r.Revision); err != nil {
		return List{Revision: now}, err
	}

	return List{Revision: now, Records: records}, nil
}

// Count returns how many keys of a range exist.
func (l *Log) Count(ctx context.Context, r Range, revision int64) (now, count int64, err error) {
	now, past, err := l.admit(revision)
	if err != nil {
		return now, 0, err
	}
	if !past {
		l.mu.RLock()
		defer l.mu.RUnlock()
		l.ascend(r, func(head) bool {
			count++

			return true
		})

		return l.published, count, nil
	}
	if err := l.file.countRange.QueryRowContext(ctx, r.Key, bound(r.End), revision).Scan(&count); err != nil {
		return now, 0, fmt.Errorf("count keys: %w", err)
	}
	_, _, err = l.admit(revision)

	return now, count, err
}

// admit checks a revision that was asked for, and reports whether it is a past one.
func (l *Log) admit(revision int64) (now int64, past bool, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	switch {
	case revision > l.published:
		return l.published, false, ErrFuture
	case revision > 0 && revision < l.compacted:
		return l.published, false, ErrCompacted
	}

	return l.published, revision > 0 && revision < l.published, nil
}

// newest reads the published state. The keys are read from memory at one moment; their values never change, and may only
// be removed when they were replaced long ago. A reader so slow starts again.
func (l *Log) newest(ctx context.Context, r Read) (List, error) {
	for {
		list := l.snapshot(r)
		if r.KeysOnly {
			return list, nil
		}
		whole, err := l.fill(ctx, list.Records)
		if err != nil || whole {
			return list, err
		}
	}
}

// snapshot returns the published state, with the values that are in memory.
func (l *Log) snapshot(r Read) List {
	l.mu.RLock()
	defer l.mu.RUnlock()
	list := List{Revision: l.published}
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

	return list
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
		err := l.file.value.QueryRowContext(ctx, r.Revision).Scan(&r.Value)
		if errors.Is(err, sql.ErrNoRows) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read value: %w", err)
		}
	}

	return true, nil
}

// recordsAt runs a statement that selects records.
func (f *file) recordsAt(ctx context.Context, statement *sql.Stmt, args ...any) (records []*Record, err error) {
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r := &Record{}
		if err := rows.Scan(
			&r.Revision, &r.Key, &r.Deleted, &r.Created, &r.Previous, &r.Lease, &r.Expires, &r.Value,
		); err != nil {
			return nil, fmt.Errorf("read record: %w", err)
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
