// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"errors"
	"fmt"
)

// catchUp publishes records that are in the file and were not published: those of writes that failed, of which nobody could find out then that
// they were made. Until it succeeds no write can be judged. It does nothing unless a write has failed since the last time.
func (l *Log) catchUp(ctx context.Context) error {
	if !l.unsure {
		return nil
	}
	b, err := l.unpublished(ctx)
	if err != nil {
		return fmt.Errorf("find out what became of the last writes: %w", err)
	}
	if err := b.recall(ctx); err != nil {
		return fmt.Errorf("find out what became of the last writes: %w", err)
	}
	l.unsure = false
	if len(b.records) == 0 {
		return nil
	}
	l.cfg.Log.Info("Writes that had failed were found to be made", "file", l.cfg.File, "writes", len(b.records))
	l.publish(b.records, step{swept: l.swept})

	return nil
}

// unpublished returns a batch of the records in the file that follow what was published. They are read by the connection that writes, which
// sees all of them.
func (l *Log) unpublished(ctx context.Context) (b *batch, err error) {
	b = newBatch(l)
	rows, err := l.file.writer.QueryContext(ctx, textAfter, l.published)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, err := scan(rows)
		if err != nil {
			return nil, err
		}
		if next := l.published + int64(len(b.records)) + 1; r.Revision != next {
			return nil, fmt.Errorf("record %d of %q is where %d comes next: another program has written to the file", r.Revision, r.Key, next)
		}
		if before, exists := b.newest(r.Key); exists {
			r.PreviousCreated, r.PreviousLease = before.created, before.lease
		}
		if !r.Deleted && r.Value == nil {
			r.Value = []byte{}
		}
		b.records = append(b.records, r)
		b.changed[r.Key] = r
	}

	return b, rows.Err()
}
