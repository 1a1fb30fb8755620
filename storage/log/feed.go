// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// feed hands published records to the followers of ranges of keys. The lock of the log guards it.
type feed struct {
	limit int64
	// ranges are the followers of each range. Many follow the same few.
	ranges map[Range]map[*Follower]struct{}
	closed bool
}

func newFeed(limit int64) *feed {
	return &feed{limit: limit, ranges: map[Range]map[*Follower]struct{}{}}
}

// publish hands records over. It never waits: a follower that is too slow reads them from the file later.
func (f *feed) publish(records []*Record) {
	for r, followers := range f.ranges {
		first := 0
		for first < len(records) && !r.Contains(records[first].Key) {
			first++
		}
		if first == len(records) {
			continue
		}
		for follower := range followers {
			follower.take(records[first:])
		}
	}
}

func (f *feed) add(s *Follower) {
	if f.ranges[s.keys] == nil {
		f.ranges[s.keys] = map[*Follower]struct{}{}
	}
	f.ranges[s.keys][s] = struct{}{}
}

func (f *feed) remove(s *Follower) {
	delete(f.ranges[s.keys], s)
	if len(f.ranges[s.keys]) == 0 {
		delete(f.ranges, s.keys)
	}
}

func (f *feed) close() {
	f.closed = true
	for _, followers := range f.ranges {
		for follower := range followers {
			follower.ring()
		}
	}
}

// Follower receives the records of a range of keys, in their order and without a gap. It belongs to one goroutine.
type Follower struct {
	log  *Log
	keys Range
	wake chan<- struct{}

	// pending are records that were published and not yet taken. given is the revision up to which everything was taken or
	// is pending. Beyond it there may be more unless the follower is level with the log.
	pending      []*Record
	pendingBytes int64
	given        int64
	level        bool
}

// Follow returns what follows a range of keys from after a revision on. wake is sent to, without waiting, whenever there
// may be something to take. Stop ends it.
func (l *Log) Follow(r Range, after int64, wake chan<- struct{}) (*Follower, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.feed.closed {
		return nil, ErrClosed
	}
	if after < l.compacted {
		return nil, ErrCompacted
	}
	f := &Follower{log: l, keys: r, wake: wake, given: after, level: after >= l.published}
	l.feed.add(f)
	f.ring()

	return f, nil
}

// Stop ends the following.
func (f *Follower) Stop() {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	f.log.feed.remove(f)
	f.pending = nil
}

// take is called with the lock held.
func (f *Follower) take(records []*Record) {
	if !f.level {
		return
	}
	for _, r := range records {
		if r.Revision <= f.given || !f.keys.Contains(r.Key) {
			continue
		}
		if f.pendingBytes > f.log.feed.limit {
			f.level = false

			break
		}
		f.pending = append(f.pending, r)
		f.pendingBytes += r.size()
		f.given = r.Revision
	}
	f.ring()
}

func (f *Follower) ring() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Next returns the records that come next, and the revision up to which nothing is missing once they are delivered. None
// and no error means that there are no more for now.
func (f *Follower) Next(ctx context.Context) (records []*Record, upTo int64, err error) {
	for {
		records, upTo, err = f.fromMemory()
		if !errors.Is(err, errBehind) {
			return records, upTo, err
		}
		if records, upTo, err = f.fromFile(ctx); err != nil || len(records) > 0 {
			return records, upTo, err
		}
	}
}

// errBehind says that the next records are no longer in memory.
var errBehind = errors.New("the next records are in the file only")

// fromMemory takes what is pending, or what can be found in the recent history. The error is errBehind where that does not
// reach back far enough.
func (f *Follower) fromMemory() (records []*Record, upTo int64, err error) {
	f.log.mu.Lock()
	defer f.log.mu.Unlock()
	if f.log.feed.closed {
		return nil, 0, ErrClosed
	}
	if len(f.pending) > 0 {
		records, f.pending, f.pendingBytes = f.pending, nil, 0

		return records, f.reached(), nil
	}
	if f.level {
		return nil, f.reached(), nil
	}
	all, known := f.log.recent.after(f.given)
	if f.given >= f.log.published {
		all, known = nil, true
	}
	if !known {
		return nil, f.given, errBehind
	}
	for _, r := range all {
		if f.keys.Contains(r.Key) {
			records = append(records, r)
		}
	}
	f.given, f.level = max(f.given, f.log.published), true

	return records, f.reached(), nil
}

// reached is the revision up to which nothing is missing, with the lock held.
func (f *Follower) reached() int64 {
	if f.level {
		return f.log.published
	}

	return f.given
}

const (
	// page is the number of revisions that are read from the file at once.
	page = 1000
	// pageBytes ends a page early. Each of many watches that are behind holds one.
	pageBytes = 256 << 10
)

// fromFile reads the next part from the file.
func (f *Follower) fromFile(ctx context.Context) (records []*Record, upTo int64, err error) {
	if records, upTo, err = f.log.page(ctx, f.keys, f.given, f.log.Revision()); err != nil {
		return nil, 0, err
	}
	f.given = upTo

	return records, upTo, nil
}

// Changes returns the next records of a range of keys after one revision and not after another one, with what they replaced, and the
// revision up to which these are all. There may be more until that is the other revision.
func (l *Log) Changes(ctx context.Context, r Range, from, to int64) (records []*Record, upTo int64, err error) {
	if records, upTo, known := l.remembered(r, from, to); known {
		return records, upTo, nil
	}

	return l.page(ctx, r, from, min(to, l.Revision()))
}

// remembered returns records from memory; known is false if it does not reach back far enough.
func (l *Log) remembered(r Range, from, to int64) (records []*Record, upTo int64, known bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	upTo = min(to, l.published)
	if from >= upTo {
		return nil, upTo, true
	}
	all, known := l.recent.after(from)
	for _, one := range all {
		if one.Revision > upTo {
			break
		}
		if r.Contains(one.Key) {
			records = append(records, one)
		}
	}

	return records, upTo, known
}

// page reads a page of records from the file.
func (l *Log) page(ctx context.Context, r Range, from, to int64) (records []*Record, upTo int64, err error) {
	if records, upTo, err = l.file.between(ctx, r, from, min(from+page, to)); err != nil {
		return nil, 0, err
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if from < l.compacted {
		return nil, 0, ErrCompacted
	}

	return records, upTo, nil
}

// textBetween selects by revision, as few of them are wanted; the plus signs keep SQLite from going over all records of the
// range instead.
func textBetween(r Range) string {
	where := "+now.name = ?"
	if r.End != "" {
		where = "+now.name >= ? AND +now.name < ?"
	}

	return `SELECT now.id, now.name, now.deleted, now.created, now.previous, now.lease,
			now.expires, now.value, now.sum, COALESCE(before.id, 0), COALESCE(before.created, 0), COALESCE(before.previous, 0),
			COALESCE(before.lease, 0), COALESCE(before.expires, 0), before.value, before.sum
		FROM log AS now LEFT JOIN log AS before ON before.id = now.previous AND before.id > 0 AND NOT before.deleted
		WHERE now.id > ? AND now.id <= ? AND ` + where + ` ORDER BY now.id`
}

// between returns the records of a range of keys after one revision and up to another one, with what they replaced. It ends earlier
// once they have the bytes of a page; upTo says where.
func (f *file) between(ctx context.Context, r Range, from, to int64) (records []*Record, upTo int64, err error) {
	args := []any{from, to, r.Key}
	if r.End != "" {
		args = append(args, bound(r.End))
	}
	rows, err := f.readers.QueryContext(uninterrupted(ctx), textBetween(r), args...)
	if err != nil {
		return nil, 0, fmt.Errorf("read records: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	bytes := int64(0)
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return nil, 0, fmt.Errorf("read records: %w", err)
		}
		n, err := scanWithPrevious(rows)
		if err != nil {
			return nil, 0, err
		}
		records = append(records, n)
		if bytes += n.size(); bytes > pageBytes {
			return records, n.Revision, nil
		}
	}

	return records, to, rows.Err()
}

// scanWithPrevious reads a row of textBetween, and verifies the record and the one that it replaces.
func scanWithPrevious(rows *sql.Rows) (*Record, error) {
	n, before := &Record{}, &Record{}
	var sum, sumBefore sql.NullInt64
	if err := rows.Scan(&n.Revision, &n.Key, &n.Deleted, &n.Created, &n.Previous, &n.Lease, &n.Expires, &n.Value, &sum,
		&before.Revision, &before.Created, &before.Previous, &before.Lease, &before.Expires, &before.Value, &sumBefore); err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	if err := n.verify(sum); err != nil {
		return nil, err
	}
	if before.Revision > 0 {
		before.Key = n.Key
		if err := before.verify(sumBefore); err != nil {
			return nil, err
		}
		n.PreviousCreated, n.PreviousLease, n.PreviousValue = before.Created, before.Lease, before.Value
	}

	return n, nil
}
