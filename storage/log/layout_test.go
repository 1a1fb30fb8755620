// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/k3s-io/kine/pkg/drivers"
	_ "github.com/k3s-io/kine/pkg/drivers/sqlite" // Registers itself.

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestTakeOver opens a file that Kine has written, with a past that was partly compacted.
func TestTakeOver(t *testing.T) {
	t.Parallel()

	cfg := config(t)
	revision := writeByKine(t, cfg.File)
	l := open(t, cfg)
	want := map[string]string{"/a": "second", "/lease": "x", "/registry/health": `{"health":"true"}`}
	if diff := cmp.Diff(want, state(t, l, 0)); diff != "" {
		t.Errorf("What Kine has kept is there.\nList(all) (-want +got):\n%s", diff)
	}
	if got := l.Revision(); got != revision {
		t.Errorf("Revisions go on where Kine's were.\nRevision(): got %d, want %d", got, revision)
	}
	follower, err := l.Follow(log.Range{Key: "/a"}, revision-5, make(chan struct{}, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Stop()
	records, _, err := follower.Next(t.Context())
	if err != nil || len(records) != 1 || string(records[0].PreviousValue) != "first" {
		t.Errorf("Watches go on from before.\nNext(): got %v, %v, want one change", records, err)
	}
	a := state(t, l, 0)["/a"]
	end(t, l)

	l = open(t, cfg)
	if got := state(t, l, 0)["/a"]; got != a {
		t.Errorf("A file is taken over once.\nList(all)[/a]: got %q, want %q", got, a)
	}
}

// writeByKine returns Kine's revision.
func writeByKine(t *testing.T, file string) int64 {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	defer done.Wait()
	defer stop()
	_, kine, err := drivers.New(ctx, &done, &drivers.Config{
		Endpoint:        "sqlite://" + file + "?_journal_mode=WAL&_txlock=immediate",
		CompactInterval: time.Hour, CompactTimeout: time.Second, CompactBatchSize: 1000, PollBatchSize: 500,
	})
	if err == nil {
		err = kine.Start(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	must := func(revision int64, err error) int64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}

		return revision
	}
	gone := must(kine.Create(ctx, "/gone", []byte("x"), 0))
	_, _, _, err = kine.Delete(ctx, "/gone", gone)
	must(0, err)
	a := must(kine.Create(ctx, "/a", []byte("first"), 0))
	must(kine.Create(ctx, "/lease", []byte("x"), 3600))
	must(kine.Compact(ctx, a))
	_, _, _, err = kine.Update(ctx, "/a", []byte("second"), a, 0)
	must(0, err)
	again := must(kine.Create(ctx, "/gone", []byte("y"), 0))
	_, _, _, err = kine.Delete(ctx, "/gone", again)
	must(0, err)

	revision := must(kine.CurrentRevision(ctx))
	// Kine has given out two more, and keeps nothing of what they were for.
	execute(t, file, fmt.Sprintf("UPDATE sqlite_sequence SET seq = %d WHERE name = 'kine'", revision+2))

	return revision + 2
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		prepare func(t *testing.T, file string)
		is      error
		want    string
	}{
		"NewerLayout": {
			reason: "An older version must not write to what it does not understand.",
			prepare: func(t *testing.T, file string) {
				t.Helper()
				execute(t, file, fmt.Sprintf("PRAGMA user_version = %d", log.Layout+1))
			},
			is:   log.ErrNewerLayout,
			want: "has layout 3, this version knows up to 2",
		},
		"NoDatabase": {
			reason: "A file of something else is not overwritten.",
			prepare: func(t *testing.T, file string) {
				t.Helper()
				if err := os.WriteFile(file, []byte(strings.Repeat("not a database ", 500)), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			want: "file is not a database",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cfg := config(t)
			tc.prepare(t, cfg.File)
			_, err := log.Open(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), tc.want) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s\nOpen(...): got error %v, want one with %q that is %v", tc.reason, err, tc.want, tc.is)
			}
		})
	}
}

func execute(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
