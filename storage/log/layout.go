// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// schema is the shape of a file. A record's place among those of its key is found by the one index; which record it
// replaces stands in the record itself.
const schema = `
CREATE TABLE log (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	deleted INTEGER NOT NULL,
	created INTEGER NOT NULL,
	previous INTEGER NOT NULL,
	lease INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	value BLOB,
	sum INTEGER
);
CREATE INDEX log_name ON log (name, id);
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
`

// takeOver copies what Kine has written. Kine marks holes in its revisions by keys "gap-…", and keeps the revision up to
// which it has compacted in the record compact_rev_key. A creation has its own revision as the one of its creation. The
// newest revision that Kine has given out may be one that is not copied, or no longer there.
const takeOver = `
INSERT INTO log (` + columns + `, value)
	SELECT id, name, deleted, CASE WHEN created THEN id ELSE create_revision END, prev_revision, lease,
		CASE WHEN lease > 0 AND NOT deleted THEN unixepoch() + lease ELSE 0 END,
		CASE WHEN deleted THEN NULL ELSE value END
	FROM kine WHERE name NOT LIKE 'gap-%' AND name != 'compact_rev_key';
INSERT INTO meta (name, value)
	SELECT 'compacted', COALESCE(MAX(prev_revision), 0) FROM kine WHERE name = 'compact_rev_key';
INSERT INTO meta (name, value) SELECT 'swept', value FROM meta WHERE name = 'compacted';
INSERT INTO meta (name, value) SELECT 'given', COALESCE(MAX(id), 0) FROM
	(SELECT id FROM kine UNION ALL SELECT seq FROM sqlite_sequence WHERE name = 'kine');
DROP TABLE kine;
`

// incremental is SQLite's mode in which unused pages can be given back in small steps.
const incremental = 2

// prepare creates the shape of the file, or brings an older one to it. It can be interrupted at any time and repeated.
func (f *file) prepare(ctx context.Context) error {
	found, err := pragma(ctx, f.writer, "user_version")
	if err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	if found > Layout {
		return fmt.Errorf("database %q has layout %d, this version knows up to %d: %w", f.path, found, Layout, ErrNewerLayout)
	}
	if found < Layout {
		if err := f.shape(ctx); err != nil {
			return err
		}
	}
	if err := f.addSums(ctx); err != nil {
		return err
	}
	mode, err := pragma(ctx, f.writer, "auto_vacuum")
	if err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	if mode == incremental {
		return nil
	}

	// A file of an older layout has to be rewritten once before it can give back pages in small steps. The connection
	// asks for the mode; this makes it so.
	if _, err := f.writer.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("rewrite database: %w", err)
	}

	return nil
}

// addSums adds the column of checksums to a file of a version without them. That version can still write the file: its records have
// no checksum.
func (f *file) addSums(ctx context.Context) error {
	var count int
	err := f.writer.QueryRowContext(ctx, `SELECT COUNT(*) FROM pragma_table_info('log') WHERE name = 'sum'`).Scan(&count)
	if err != nil {
		return fmt.Errorf("read database: %w", err)
	}
	if count > 0 {
		return nil
	}
	if _, err := f.writer.ExecContext(ctx, `ALTER TABLE log ADD COLUMN sum INTEGER`); err != nil {
		return fmt.Errorf("add checksums: %w", err)
	}

	return nil
}

func (f *file) shape(ctx context.Context) (err error) {
	tx, err := f.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("set up database: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreDone(tx.Rollback()))
		}
	}()
	statements := schema
	if before, err := has(ctx, tx, "kine"); err != nil {
		return err
	} else if before {
		statements += takeOver
	}
	statements += fmt.Sprintf("PRAGMA user_version = %d;", Layout)
	if _, err := tx.ExecContext(ctx, statements); err != nil {
		return fmt.Errorf("set up database: %w", err)
	}

	return tx.Commit()
}

func has(ctx context.Context, tx *sql.Tx, table string) (bool, error) {
	var count int
	err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?`, table).Scan(&count)
	if err != nil {
		return false, fmt.Errorf("read database: %w", err)
	}

	return count > 0, nil
}
