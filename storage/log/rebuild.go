// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Rebuild makes the file of a log anew from records that were exported. Nobody may use the file before Finish has returned: a
// crash leaves it in any state.
type Rebuild struct {
	path             string
	db               *sql.DB
	tx               *sql.Tx
	insert, replaced *sql.Stmt
	newest           int64
}

// NewRebuild creates the file, which must not exist. Finish or Abandon has to be called.
func NewRebuild(ctx context.Context, path string) (r *Rebuild, err error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("rebuild database: %q exists already", path)
	}
	if err := touch(path); err != nil {
		return nil, err
	}
	params := url.Values{
		"_journal_mode": {"MEMORY"}, "_synchronous": {"OFF"}, "_txlock": {"immediate"}, "_auto_vacuum": {"incremental"},
	}
	r = &Rebuild{path: path, db: sql.OpenDB(connector{source: path + "?" + params.Encode()})}
	r.db.SetMaxOpenConns(1)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("rebuild database: %w", withRemedy(err, path)), r.Abandon())
		}
	}()
	if r.tx, err = r.db.BeginTx(ctx, nil); err != nil {
		return nil, err
	}
	if _, err = r.tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", Layout)); err != nil {
		return nil, err
	}
	if r.insert, err = r.tx.PrepareContext(ctx, textInsert); err != nil {
		return nil, err
	}
	r.replaced, err = r.tx.PrepareContext(ctx, `DELETE FROM log WHERE name = ?`)

	return r, err
}

// Newest is the revision of the last record that was applied, or that Reached has named.
func (r *Rebuild) Newest() int64 { return r.newest }

// Reached says that the log has had this revision.
func (r *Rebuild) Reached(revision int64) { r.newest = max(r.newest, revision) }

// Apply adds a record to the state: it replaces the one of its key, or removes it if it is a deletion.
func (r *Rebuild) Apply(ctx context.Context, record *Record) error {
	if _, err := r.replaced.ExecContext(ctx, record.Key); err != nil {
		return fmt.Errorf("replace record: %w", withRemedy(err, r.path))
	}
	r.newest = max(r.newest, record.Revision)
	if record.Deleted {
		return nil
	}

	return withRemedy(record.insert(ctx, r.insert), r.path)
}

// Finish commits and checks the state, and puts the file on the disk. The log will go on after the given revision, which counts
// as compacted: no client may take up from a revision before it. It returns the number of keys.
func (r *Rebuild) Finish(ctx context.Context, revision int64) (keys int64, err error) {
	defer func() { err = errors.Join(err, r.Abandon()) }()
	revision = max(revision, r.newest)
	for _, name := range []string{"given", "compacted", "swept"} {
		if _, err := r.tx.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES (?, ?)`, name, revision); err != nil {
			return 0, fmt.Errorf("note revision: %w", withRemedy(err, r.path))
		}
	}
	if err := r.tx.Commit(); err != nil {
		return 0, fmt.Errorf("commit database: %w", withRemedy(err, r.path))
	}
	if err := r.check(ctx); err != nil {
		return 0, err
	}
	if err := r.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM log WHERE NOT deleted`).Scan(&keys); err != nil {
		return 0, fmt.Errorf("count keys: %w", err)
	}
	if err := r.db.Close(); err != nil {
		return 0, fmt.Errorf("close database: %w", err)
	}
	f, err := os.OpenFile(r.path, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("sync database: %w", err)
	}

	return keys, errors.Join(f.Sync(), f.Close())
}

// check has SQLite go over the whole file.
func (r *Rebuild) check(ctx context.Context) error {
	var verdict string
	if err := r.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("check database: %s", verdict)
	}

	return nil
}

// Abandon closes the file as it is. After Finish it does nothing.
func (r *Rebuild) Abandon() error {
	if r.tx != nil {
		if err := ignoreDone(r.tx.Rollback()); err != nil {
			return errors.Join(err, r.db.Close())
		}
	}

	return r.db.Close()
}
