// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// Layout numbers the shape of the file; it grows when a release can no longer be undone by the one before it. Layout 1
// is Kine's table.
const Layout = 2

// ErrNewerLayout says that a file was written by a newer release.
var ErrNewerLayout = errors.New("written by a newer version of terrarium")

// file is the SQLite file: one connection that writes, another one that moves the write-ahead log, and several that
// read.
type file struct {
	path string
	// held says that no other log is open on the file.
	held          *os.File
	writer, mover *sql.DB
	readers       *sql.DB

	insert, replaced, sweepOld, sweepDeleted *sql.Stmt
	value, at, atRange, countRange           *sql.Stmt
}

func openFile(ctx context.Context, cfg Config) (*file, error) {
	held, err := claim(cfg.File)
	if err != nil {
		return nil, err
	}
	f := &file{path: cfg.File, held: held}
	if err := touch(cfg.File); err != nil {
		return nil, errors.Join(err, f.close())
	}
	if err := f.open(ctx, cfg); err != nil {
		return nil, errors.Join(err, f.close())
	}

	return f, nil
}

func (f *file) open(ctx context.Context, cfg Config) error {
	f.writer = connect(cfg.File, 1, url.Values{"_txlock": {"immediate"}, "_auto_vacuum": {"incremental"}})
	if err := f.prepare(ctx); err != nil {
		return err
	}
	f.mover = connect(cfg.File, 1, nil)
	f.readers = connect(cfg.File, cfg.Readers, url.Values{"_query_only": {"true"}})

	return f.statements(ctx)
}

// touch creates the file for its owner only; SQLite gives the same mode to the files beside it.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // The path is the operator's data directory.
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}

	return f.Close()
}

// connect opens a pool. Each commit is synced to the disk; the write-ahead log is moved by checkpoint only, so that no
// commit has to wait for it.
func connect(path string, connections int, more url.Values) *sql.DB {
	params := url.Values{
		"_journal_mode": {"WAL"},
		"_synchronous":  {"FULL"},
		"_busy_timeout": {"30000"},
		"_cache_size":   {"-4096"},
	}
	maps.Copy(params, more)
	db := sql.OpenDB(connector{source: path + "?" + params.Encode()})
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)

	return db
}

// keptBytes is the size to which a write-ahead log is cut when it begins anew.
const keptBytes = 4 << 20

// connector opens connections that leave the write-ahead log where it is. A log that begins anew is cut to a size, so that
// its size tells how much of it was not moved yet.
type connector struct{ source string }

var _ driver.Connector = connector{}

// Driver implements driver.Connector.
func (connector) Driver() driver.Driver {
	return &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		_, err := c.Exec(fmt.Sprintf("PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = %d", keptBytes), nil)

		return err
	}}
}

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.source) }

// columns are what a Record consists of, the value last: SQLite reads it only where it is asked for.
const columns = "id, name, deleted, created, previous, lease, expires"

// The statements that are kept prepared.
const (
	textInsert   = `INSERT INTO log (` + columns + `, value, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	textValue    = `SELECT ` + columns + `, value, sum FROM log WHERE id = ?`
	textSweepOld = `DELETE FROM log WHERE id IN
		(SELECT previous FROM log WHERE id > ? AND id <= ? AND previous > 0)`
	textSweepDeleted = `DELETE FROM log WHERE id > ? AND id <= ? AND deleted`
	textAt           = `SELECT ` + columns + `, value, sum FROM log WHERE name = ? AND id <= ? ORDER BY id DESC LIMIT 1`
	textNewest       = `SELECT MAX(id) FROM log WHERE name >= ? AND name < ? AND id <= ? GROUP BY name`
	textAtRange      = `SELECT ` + columns + `, value, sum FROM log
		WHERE id IN (` + textNewest + `) AND NOT deleted ORDER BY name LIMIT ?`
	textAfter      = `SELECT ` + columns + `, value, sum FROM log WHERE id > ? ORDER BY id`
	textCountRange = `SELECT COUNT(*) FROM log WHERE id IN (` + textNewest + `) AND NOT deleted`
)

func (f *file) statements(ctx context.Context) error {
	for _, s := range []struct {
		into **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&f.insert, f.writer, textInsert},
		{&f.replaced, f.writer, textValue},
		{&f.sweepOld, f.writer, textSweepOld},
		{&f.sweepDeleted, f.writer, textSweepDeleted},
		{&f.value, f.readers, textValue},
		{&f.at, f.readers, textAt},
		{&f.atRange, f.readers, textAtRange},
		{&f.countRange, f.readers, textCountRange},
	} {
		//nolint:sqlclosecheck // It is closed with its pool.
		statement, err := s.db.PrepareContext(ctx, s.text)
		if err != nil {
			return fmt.Errorf("prepare statement: %w", err)
		}
		*s.into = statement
	}

	return nil
}

// uninterrupted returns a context for a statement that takes little time for each row, and whose caller asks ctx itself between two rows.
// With a context that can end, the driver reads each row in a goroutine of its own, so that it could interrupt SQLite: that takes a fifth
// more time for a row, and longer where many goroutines wait for a processor.
func uninterrupted(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// revisions are the newest revision of a log, the one up to which past states are no longer kept, and the one up to which
// their records are removed.
type revisions struct {
	newest, compacted, swept int64
}

// revisions reads them.
func (f *file) revisions(ctx context.Context) (revisions, error) { return readRevisions(ctx, f.writer) }

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readRevisions(ctx context.Context, from querier) (is revisions, err error) {
	for _, q := range []struct {
		into *int64
		text string
	}{
		{&is.newest, `SELECT MAX(COALESCE((SELECT MAX(id) FROM log), 0), COALESCE((SELECT value FROM meta WHERE name = 'given'), 0))`},
		{&is.compacted, `SELECT COALESCE((SELECT value FROM meta WHERE name = 'compacted'), 0)`},
		{&is.swept, `SELECT COALESCE((SELECT value FROM meta WHERE name = 'swept'), 0)`},
	} {
		if err := from.QueryRowContext(ctx, q.text).Scan(q.into); err != nil {
			return revisions{}, fmt.Errorf("read revisions: %w", err)
		}
	}

	// Clients of etcd take revision 0 for none.
	is.newest = max(is.newest, is.compacted, 1)

	return is, nil
}

// heads calls add for the newest state of each key that exists.
func (f *file) heads(ctx context.Context, add func(head)) (err error) {
	rows, err := f.writer.QueryContext(ctx,
		`SELECT name, MAX(id), created, lease, expires, deleted FROM log GROUP BY name`)
	if err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var h head
		var deleted bool
		if err := rows.Scan(&h.key, &h.revision, &h.created, &h.lease, &h.expires, &deleted); err != nil {
			return fmt.Errorf("read key: %w", err)
		}
		if !deleted {
			add(h)
		}
	}

	return rows.Err()
}

func (f *file) size(ctx context.Context) (size int64, err error) {
	err = f.readers.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()`).Scan(&size)
	if err != nil {
		return 0, fmt.Errorf("read size of database: %w", err)
	}

	return size, nil
}

// close closes the connections; the last step moves what is left of the write-ahead log into the file, so that a copy
// of the one file is whole.
func (f *file) close() error { return errors.Join(f.disconnect(), f.held.Close()) }

func (f *file) disconnect() error {
	var errs []error
	for _, db := range []*sql.DB{f.readers, f.mover} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if f.writer == nil {
		return errors.Join(errs...)
	}
	if f.insert != nil {
		errs = append(errs, f.truncate())
	}

	return errors.Join(append(errs, f.writer.Close())...)
}

func (f *file) truncate() error {
	var busy, pages, moved int
	//nolint:noctx // Closing is not given up.
	if err := f.writer.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return fmt.Errorf("move write-ahead log: %w", err)
	}
	if busy != 0 {
		return errors.New("move write-ahead log: still in use")
	}

	return nil
}

// pragma reads a number of SQLite's own.
func pragma(ctx context.Context, db *sql.DB, name string) (value int64, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA "+name).Scan(&value)

	return value, err
}

// withRemedy says what to do about a full disk instead of which step has found it full. Other errors stay as they are.
func withRemedy(err error, path string) error {
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
	if failure, ok := errors.AsType[sqlite3.Error](err); ok {
		full = full || failure.Code == sqlite3.ErrFull ||
			failure.SystemErrno == syscall.ENOSPC || failure.SystemErrno == syscall.EDQUOT
	}
	if full {
		return fmt.Errorf("%w: free space on the disk of %q", ErrNoSpace, path)
	}

	return err
}
