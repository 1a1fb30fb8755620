// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"strconv"
)

// ErrDamaged says that a record is not what was written.
var ErrDamaged = errors.New("the record is damaged in the file")

// mostProblems is the number of problems that a check reports.
const mostProblems = 20

// Sum is the checksum of a record as it is stored. It is never 0, which is kept for records of versions without checksums.
func (r *Record) Sum() int64 {
	text := make([]byte, 0, len(r.Key)+64) //nolint:mnd // Room for the numbers.
	for _, n := range []int64{r.Revision, number(r.Deleted), r.Created, r.Previous, r.Lease, r.Expires} {
		text = append(strconv.AppendInt(text, n, 10), ' ')
	}
	text = append(text, r.Key...)
	table := crc32.MakeTable(crc32.Castagnoli)

	return int64(crc32.Update(crc32.Checksum(text, table), table, r.Value)) + 1
}

func number(b bool) int64 {
	if b {
		return 1
	}

	return 0
}

// verify compares a record with the checksum that was stored with it, if there is one.
func (r *Record) verify(stored sql.NullInt64) error {
	if stored.Valid && stored.Int64 != r.Sum() {
		damagedReads.Inc()

		return fmt.Errorf("record %d of %q: %w", r.Revision, r.Key, ErrDamaged)
	}

	return nil
}

// Check looks for damage in the structure of the file and in each record; a full check also compares the indexes with the records.
// It returns what it has found, and reads and writes go on meanwhile.
func (l *Log) Check(ctx context.Context, full bool) (problems []string, err error) {
	return checkFile(ctx, l.cfg.File, full)
}

// CheckFile does the same for a file that no log is open on.
func CheckFile(ctx context.Context, path string, full bool) (problems []string, err error) {
	held, err := claim(path)
	if err != nil {
		return nil, fmt.Errorf("check %q: %w", path, err)
	}
	defer func() { err = errors.Join(err, held.Close()) }()

	return checkFile(ctx, path, full)
}

func checkFile(ctx context.Context, path string, full bool) (problems []string, err error) {
	db := connect(path, 1, url.Values{"_query_only": {"true"}})
	defer func() { err = errors.Join(err, db.Close()) }()
	pragma := "quick_check"
	if full {
		pragma = "integrity_check"
	}
	problems, err = texts(ctx, db, fmt.Sprintf("PRAGMA %s(%d)", pragma, mostProblems))
	if ctx.Err() != nil {
		return nil, fmt.Errorf("check %q: %w", path, ctx.Err())
	}
	if err != nil {
		// A file that SQLite cannot read to its end is damaged.
		return append(problems, err.Error()), nil
	}
	if len(problems) == 1 && problems[0] == "ok" {
		problems = nil
	}
	damaged, err := damagedRecords(ctx, db)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("check %q: %w", path, ctx.Err())
	}
	if err != nil {
		damaged = append(damaged, err.Error())
	}

	return append(problems, damaged...), nil
}

func texts(ctx context.Context, db *sql.DB, query string) (all []string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("check database: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return all, fmt.Errorf("check database: %w", err)
		}
		all = append(all, text)
	}

	return all, rows.Err()
}

// checkStep is the number of records that are read at a time, so that no read holds up the write-ahead log for long.
const checkStep = 500

func damagedRecords(ctx context.Context, db *sql.DB) (problems []string, err error) {
	err = eachDamaged(ctx, db, func(_ *Record, damage error) bool {
		problems = append(problems, damage.Error())

		return len(problems) < mostProblems
	})

	return problems, err
}

// Damaged returns the keys whose newest state is damaged. They cannot be read.
func (l *Log) Damaged(ctx context.Context) (keys []string, err error) {
	db := connect(l.cfg.File, 1, url.Values{"_query_only": {"true"}})
	defer func() { err = errors.Join(err, db.Close()) }()
	err = eachDamaged(ctx, db, func(r *Record, _ error) bool {
		l.mu.RLock()
		defer l.mu.RUnlock()
		h, ok := l.heads.Get(head{key: r.Key})
		if ok && h.revision == r.Revision {
			keys = append(keys, r.Key)
		}

		return len(keys) < mostProblems
	})

	return keys, err
}

// eachDamaged calls a function for each damaged record until it returns false.
func eachDamaged(ctx context.Context, db *sql.DB, call func(r *Record, damage error) bool) error {
	more := true
	for after := int64(-1); more; {
		read, last, err := damagedAfter(ctx, db, after, func(r *Record, damage error) { more = more && call(r, damage) })
		if err != nil || read == 0 {
			return err
		}
		after = last
	}

	return nil
}

func damagedAfter(
	ctx context.Context, db *sql.DB, after int64, call func(r *Record, damage error),
) (read int, last int64, err error) {
	rows, err := db.QueryContext(uninterrupted(ctx), `SELECT `+columns+`, value, sum FROM log WHERE id > ? ORDER BY id LIMIT ?`, after, checkStep)
	if err != nil {
		return 0, 0, fmt.Errorf("check records: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return 0, 0, fmt.Errorf("check records: %w", err)
		}
		r, err := scan(rows)
		if r == nil {
			return read, last, err
		}
		if err != nil {
			call(r, err)
		}
		read, last = read+1, r.Revision
	}

	return read, last, rows.Err()
}

// scan reads a record, and verifies it. The record is nil if it could not be read.
func scan(row interface{ Scan(into ...any) error }) (*Record, error) {
	r := &Record{}
	var stored sql.NullInt64
	if err := row.Scan(
		&r.Revision, &r.Key, &r.Deleted, &r.Created, &r.Previous, &r.Lease, &r.Expires, &r.Value, &stored,
	); err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}

	return r, r.verify(stored)
}
