// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3" // The driver of the databases, the same that Kine uses.
)

// layout numbers the shape of the databases; it grows when a release can no longer be undone by the one before it.
const layout = 1

// minVacuumPages is the number of unused pages (4 KiB each) below which a start never spends time on giving them back.
const minVacuumPages = 16384

// ErrNewerLayout says that a database was written by a newer release.
var ErrNewerLayout = errors.New("written by a newer version of terrarium")

// prepare makes or checks one database before Kine opens it: Kine itself would retry for five minutes on a file that
// is none of its own. It gives space back to the file system only where half of a large file lies unused.
func prepare(ctx context.Context, file, source string) (err error) {
	if err := touch(file); err != nil {
		return err
	}

	db, err := sql.Open("sqlite3", source)
	if err != nil {
		return fmt.Errorf("open database %q: %w", file, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	found, err := pragma(ctx, db, "user_version")
	if err != nil {
		return fmt.Errorf("read database %q: %w", file, err)
	}
	if found > layout {
		return fmt.Errorf("database %q has layout %d, this version knows up to %d: %w", file, found, layout, ErrNewerLayout)
	}
	if found == layout {
		return reclaim(ctx, db, file)
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", layout)); err != nil {
		return fmt.Errorf("mark database %q: %w", file, err)
	}

	return nil
}

// touch makes the file readable by its owner only; SQLite gives the same mode to the files beside it.
func touch(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("make database directory: %w", err)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // The path is the operator's data directory.
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}

	return f.Close()
}

func reclaim(ctx context.Context, db *sql.DB, file string) error {
	total, err := pragma(ctx, db, "page_count")
	if err != nil {
		return fmt.Errorf("read size of database %q: %w", file, err)
	}
	free, err := pragma(ctx, db, "freelist_count")
	if err != nil {
		return fmt.Errorf("read free space of database %q: %w", file, err)
	}
	if free < minVacuumPages || free < total/2 {
		return nil
	}
	if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("vacuum database %q: %w", file, err)
	}

	return nil
}

// checkpoint moves what is left in the write-ahead log into the database, so that a copy of the one file is whole.
func checkpoint(ctx context.Context, file, source string) (err error) {
	db, err := sql.Open("sqlite3", source)
	if err != nil {
		return fmt.Errorf("open database %q: %w", file, err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	var busy, pages, moved int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return fmt.Errorf("checkpoint database %q: %w", file, err)
	}
	if busy != 0 {
		return fmt.Errorf("checkpoint database %q: still in use", file)
	}

	return nil
}

func pragma(ctx context.Context, db *sql.DB, name string) (value int64, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value)

	return value, err
}
