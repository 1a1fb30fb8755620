// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"errors"
	"fmt"
)

// Full reports whether the last write failed because there was no space left.
func (l *Log) Full() bool { return l.full.Load() }

// Probe writes something that changes nothing, to find out whether there is space again.
func (l *Log) Probe(ctx context.Context) error {
	_, err := l.file.writer.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ('probe', 1)
		ON CONFLICT (name) DO UPDATE SET value = value % 1000 + 1`)
	if err != nil {
		err = withRemedy(err, l.cfg.File)
		l.full.Store(errors.Is(err, ErrNoSpace))

		return fmt.Errorf("write to database: %w", err)
	}
	l.full.Store(false)

	return nil
}

// Unused returns the bytes of the file that no record uses.
func (l *Log) Unused(ctx context.Context) (int64, error) {
	free, err := pragma(ctx, l.file.readers, "freelist_count")
	if err != nil {
		return 0, fmt.Errorf("read size of database: %w", err)
	}
	size, err := pragma(ctx, l.file.readers, "page_size")
	if err != nil {
		return 0, fmt.Errorf("read size of database: %w", err)
	}

	return free * size, nil
}

// Vacuum gives all unused space back to the file system. Writes go on between its steps.
func (l *Log) Vacuum(ctx context.Context) error {
	for {
		before, err := pragma(ctx, l.file.writer, "freelist_count")
		if err != nil {
			return fmt.Errorf("vacuum %q: %w", l.cfg.File, err)
		}
		if before == 0 {
			break
		}
		if err := l.file.giveBack(ctx); err != nil {
			return fmt.Errorf("vacuum %q: %w", l.cfg.File, withRemedy(err, l.cfg.File))
		}
		after, err := pragma(ctx, l.file.writer, "freelist_count")
		if err != nil {
			return fmt.Errorf("vacuum %q: %w", l.cfg.File, err)
		}
		if after >= before {
			break
		}
	}

	// The file becomes smaller when the write-ahead log is moved into it.
	return move(ctx, l.file.mover)
}
