// SPDX-License-Identifier: Apache-2.0

package log

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlans asks SQLite how it would find what the statements want.
func TestPlans(t *testing.T) {
	t.Parallel()

	l, err := Open(t.Context(), NewConfig(filepath.Join(t.TempDir(), "objects.db")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close(): %v", err)
		}
	})
	one, several := Range{Key: "/a"}, Range{Key: "/a", End: "/b"}
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Between": {
			reason: "A follower who is behind reads a few revisions, not all of a key's.",
			text:   textBetween(several),
			want:   []string{"SEARCH now USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "SEARCH before USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"},
		},
		"BetweenOfOne": {
			reason: "The same holds for one key.",
			text:   textBetween(one),
			want:   []string{"SEARCH now USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "SEARCH before USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"},
		},
		"At": {
			reason: "A key's past is found by its name.",
			text:   textAt,
			want:   []string{"SEARCH log USING INDEX log_name (name=? AND id<?)"},
		},
		"AtRange": {
			reason: "The index says which records are the newest ones, without a look at the records.",
			text:   textAtRange,
			want:   []string{"SEARCH log USING INTEGER PRIMARY KEY (rowid=?)", "LIST SUBQUERY 1", "SEARCH log USING COVERING INDEX log_name (name>? AND name<?)", "USE TEMP B-TREE FOR ORDER BY"},
		},
		"CountRange": {
			reason: "So does it for a count.",
			text:   textCountRange,
			want:   []string{"SEARCH log USING INTEGER PRIMARY KEY (rowid=?)", "LIST SUBQUERY 1", "SEARCH log USING COVERING INDEX log_name (name>? AND name<?)"},
		},
		"SweepOld": {
			reason: "A step of compaction costs as much as it goes over.",
			text:   textSweepOld,
			want:   []string{"SEARCH log USING INTEGER PRIMARY KEY (rowid=?)", "LIST SUBQUERY 1", "SEARCH log USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		},
		"SweepDeleted": {
			reason: "A step of compaction costs as much as it goes over.",
			text:   textSweepDeleted,
			want:   []string{"SEARCH log USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, explain(t, l.file.writer, tc.text)); diff != "" {
				t.Errorf("%s\nplan (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func explain(t *testing.T, db *sql.DB, text string) []string {
	t.Helper()
	args := make([]any, strings.Count(text, "?"))
	for i := range args {
		args[i] = 1
	}
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}

	return plan
}
