// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3" // Registers itself.
)

// change is a record of the store.
type change struct {
	revision int64
	key      string
	deleted  bool
	// token is unique to the write; empty for a deletion.
	token string
	// group is what selectors select by.
	group string
}

// truth is what the store holds of its past, in the order of revisions.
type truth struct {
	changes []change
	byKey   map[string][]change
}

func newTruth(changes []change) *truth {
	t := &truth{changes: changes, byKey: map[string][]change{}}
	for _, c := range changes {
		t.byKey[c.key] = append(t.byKey[c.key], c)
	}

	return t
}

// at is the last change of a key up to a revision. A key that was never written is a deleted one.
func (t *truth) at(key string, revision int64) change {
	all := t.byKey[key]
	n, _ := slices.BinarySearchFunc(all, revision+1, byRevision)
	if n == 0 {
		return change{key: key, deleted: true}
	}

	return all[n-1]
}

// state is the revision of what exists of a key at a revision, 0 if nothing does.
func (t *truth) state(key string, revision int64) int64 {
	if c := t.at(key, revision); !c.deleted {
		return c.revision
	}

	return 0
}

// next is the first change of a key after a revision.
func (t *truth) next(key string, revision int64) (change, bool) {
	all := t.byKey[key]
	n, _ := slices.BinarySearchFunc(all, revision+1, byRevision)
	if n == len(all) {
		return change{}, false
	}

	return all[n], true
}

// exact is the change of a revision.
func (t *truth) exact(revision int64) (change, bool) {
	n, found := slices.BinarySearchFunc(t.changes, revision, byRevision)
	if !found {
		return change{}, false
	}

	return t.changes[n], true
}

// visible are the changes after one revision that somebody sees who looks at what matches: to, within, and out of it.
func (t *truth) visible(match func(change) bool, after int64) (found []change) {
	n, _ := slices.BinarySearchFunc(t.changes, after+1, byRevision)
	for _, c := range t.changes[n:] {
		if before := t.at(c.key, c.revision-1); !c.deleted && match(c) || !before.deleted && match(before) {
			found = append(found, c)
		}
	}

	return found
}

func byRevision(c change, revision int64) int { return int(c.revision - revision) }

// readTruth reads the file of a store that was closed. name makes the key of a record, empty for what does not matter.
func readTruth(t *testing.T, file string, name func(key string) string) *truth {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(t.Context(), `SELECT id, name, deleted, value FROM log ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var changes []change
	for rows.Next() {
		var c change
		var value []byte
		if err := rows.Scan(&c.revision, &c.key, &c.deleted, &value); err != nil {
			t.Fatal(err)
		}
		if c.key = name(c.key); c.key == "" {
			continue
		}
		if !c.deleted {
			c.token = string(value)
			_, c.group, _ = strings.Cut(c.token, "/")
		}
		changes = append(changes, c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}

	return newTruth(changes)
}
