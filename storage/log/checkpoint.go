// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// moveInterval is how often the write-ahead log is moved into the file beside the writer.
const moveInterval = 2 * time.Second

// checkpoint moves the write-ahead log into the file, without ever holding up a write.
func (l *Log) checkpoint(ctx context.Context) {
	tick := l.cfg.Clock.NewTicker(moveInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C():
			if l.file.wal() < l.cfg.WALBytes/4 {
				continue
			}
			if err := move(ctx, l.file.mover); err != nil && ctx.Err() == nil {
				l.cfg.Log.Error(err, "The write-ahead log was not moved; this is tried again", "file", l.cfg.File)
			}
		case <-ctx.Done():
			return
		}
	}
}

// bound moves the write-ahead log between two batches once it is too large. Only a log that is moved whole begins anew,
// and under sustained writes only the writer can do that.
func (l *Log) bound(ctx context.Context) {
	if l.file.wal() < l.cfg.WALBytes {
		return
	}
	if err := move(ctx, l.file.writer); err != nil {
		l.cfg.Log.Error(err, "The write-ahead log was not moved; this is tried again", "file", l.cfg.File)
	}
}

// relieve moves the write-ahead log while there is no space left. One that was moved whole begins anew in the space that it has: then changes and the
// removal of old records go on, as long as they need no more than that and what is unused in the file.
func (l *Log) relieve(ctx context.Context) {
	if !l.full.Load() {
		return
	}
	if err := move(ctx, l.file.writer); err != nil && !errors.Is(withRemedy(err, l.cfg.File), ErrNoSpace) {
		l.cfg.Log.Error(err, "The write-ahead log was not moved; this is tried again", "file", l.cfg.File)
	}
}

// wal is the size of the write-ahead log.
func (f *file) wal() int64 {
	info, err := os.Stat(f.path + "-wal")
	if err != nil {
		return 0
	}

	return info.Size()
}

func move(ctx context.Context, db *sql.DB) error {
	var busy, pages, moved int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &moved); err != nil {
		return fmt.Errorf("move write-ahead log: %w", err)
	}

	return nil
}
