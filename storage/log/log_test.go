// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// all is the range of every key.
var all = log.Range{Key: "/", End: "0"}

func TestWrite(t *testing.T) {
	t.Parallel()

	// Every case begins with key /a at revision 2, and /gone deleted at revision 4.
	cases := map[string]struct {
		reason string
		change log.Change
		want   log.Result
		state  map[string]string
	}{
		"Create": {
			reason: "A key that does not exist is created with revision 0.",
			change: log.Change{Key: "/b", Value: []byte("new")},
			want:   log.Result{Applied: true, Revision: 5, Record: &log.Record{Revision: 5, Key: "/b", Created: 5, Value: []byte("new")}},
			state:  map[string]string{"/a": "first", "/b": "new"},
		},
		"CreateExisting": {
			reason: "A creation never replaces anything.",
			change: log.Change{Key: "/a", Value: []byte("new")},
			want:   log.Result{Revision: 4, Found: 2},
			state:  map[string]string{"/a": "first"},
		},
		"CreateAgain": {
			reason: "A key that was deleted is created anew.",
			change: log.Change{Key: "/gone", Value: []byte("back")},
			want:   log.Result{Applied: true, Revision: 5, Record: &log.Record{Revision: 5, Key: "/gone", Created: 5, Value: []byte("back")}},
			state:  map[string]string{"/a": "first", "/gone": "back"},
		},
		"Update": {
			reason: "What has the revision that the change names is replaced; the record says what it was.",
			change: log.Change{Key: "/a", Value: []byte("second"), Revision: 2},
			want: log.Result{Applied: true, Revision: 5, Record: &log.Record{
				Revision: 5, Key: "/a", Created: 2, Value: []byte("second"), Previous: 2, PreviousValue: []byte("first"), PreviousCreated: 2,
			}},
			state: map[string]string{"/a": "second"},
		},
		"UpdateStale": {
			reason: "What was changed since is left alone.",
			change: log.Change{Key: "/a", Value: []byte("second"), Revision: 1},
			want:   log.Result{Revision: 4, Found: 2},
			state:  map[string]string{"/a": "first"},
		},
		"UpdateMissing": {
			reason: "A key that does not exist has no revision.",
			change: log.Change{Key: "/b", Value: []byte("new"), Revision: 2},
			want:   log.Result{Revision: 4},
			state:  map[string]string{"/a": "first"},
		},
		"Delete": {
			reason: "A deletion is a record of its own.",
			change: log.Change{Key: "/a", Delete: true, Revision: 2},
			want: log.Result{Applied: true, Revision: 5, Record: &log.Record{
				Revision: 5, Key: "/a", Deleted: true, Created: 2, Previous: 2, PreviousValue: []byte("first"), PreviousCreated: 2,
			}},
			state: map[string]string{},
		},
		"DeleteAny": {
			reason: "A deletion may take whatever there is.",
			change: log.Change{Key: "/a", Delete: true, Revision: log.Any},
			want: log.Result{Applied: true, Revision: 5, Record: &log.Record{
				Revision: 5, Key: "/a", Deleted: true, Created: 2, Previous: 2, PreviousValue: []byte("first"), PreviousCreated: 2,
			}},
			state: map[string]string{},
		},
		"DeleteMissing": {
			reason: "What does not exist is not deleted again.",
			change: log.Change{Key: "/gone", Delete: true, Revision: log.Any},
			want:   log.Result{Revision: 4},
			state:  map[string]string{"/a": "first"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := open(t, config(t))
			apply(t, l, log.Change{Key: "/a", Value: []byte("first")})
			gone := apply(t, l, log.Change{Key: "/gone", Value: []byte("x")})
			apply(t, l, log.Change{Key: "/gone", Delete: true, Revision: gone.Revision})

			got, err := l.Write(t.Context(), tc.change)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s\nWrite(%v): %v, (-want +got):\n%s", tc.reason, tc.change, err, diff)
			}
			if diff := cmp.Diff(tc.state, state(t, l, 0)); diff != "" {
				t.Errorf("%s\nList(all) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReopen closes a log and opens it again, with nothing of it in memory.
func TestReopen(t *testing.T) {
	t.Parallel()

	cfg := config(t)
	l := open(t, cfg)
	apply(t, l, log.Change{Key: "/a", Value: []byte("first")})
	b := apply(t, l, log.Change{Key: "/b", Value: []byte("x")})
	apply(t, l, log.Change{Key: "/b", Delete: true, Revision: b.Revision})
	end(t, l)

	l = open(t, cfg)
	if got := l.Revision(); got != 4 {
		t.Errorf("Revisions go on where they were.\nRevision(): got %d, want 4", got)
	}
	if diff := cmp.Diff(map[string]string{"/a": "first"}, state(t, l, 0)); diff != "" {
		t.Errorf("What was written is there.\nList(all) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"/a": "first", "/b": "x"}, state(t, l, 3)); diff != "" {
		t.Errorf("The past is there as well.\nList(all, revision 3) (-want +got):\n%s", diff)
	}
	wake := make(chan struct{}, 1)
	follower, err := l.Follow(all, 2, wake)
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Stop()
	want := []*log.Record{
		{Revision: 3, Key: "/b", Created: 3, Value: []byte("x")},
		{Revision: 4, Key: "/b", Created: 3, Deleted: true, Previous: 3, PreviousValue: []byte("x"), PreviousCreated: 3},
	}
	got, upTo, err := follower.Next(t.Context())
	if diff := cmp.Diff(want, got); diff != "" || err != nil || upTo != 4 {
		t.Errorf("A follower goes on from before the restart.\nNext(): up to %d, %v, (-want +got):\n%s", upTo, err, diff)
	}
}

func TestRevisionsOutside(t *testing.T) {
	t.Parallel()

	l := open(t, config(t))
	if _, err := l.List(t.Context(), log.Read{Range: all, Revision: 100}); !errors.Is(err, log.ErrFuture) {
		t.Errorf("What is not written yet cannot be read.\nList(revision 100): got %v, want %v", err, log.ErrFuture)
	}
}

// TestExpiry lets leases end, one of which was renewed.
func TestExpiry(t *testing.T) {
	t.Parallel()

	cfg := config(t)
	clock := testingclock.NewFakeClock(time.Unix(1_000_000, 0))
	cfg.Clock = clock
	l := open(t, cfg)
	apply(t, l, log.Change{Key: "/a", Value: []byte("x"), Lease: 10})
	b := apply(t, l, log.Change{Key: "/b", Value: []byte("x"), Lease: 10})
	clock.Step(9 * time.Second)
	apply(t, l, log.Change{Key: "/b", Value: []byte("y"), Lease: 10, Revision: b.Revision})
	clock.Step(time.Second)
	until(t, func() bool { return cmp.Equal(state(t, l, 0), map[string]string{"/b": "y"}) },
		"A key is removed when its lease ends, not before, and not if it was renewed.")
	end(t, l)

	clock.Step(time.Hour)
	l = open(t, cfg)
	until(t, func() bool { return len(state(t, l, 0)) == 0 }, "A lease that ended while nobody ran the log has ended.")
}

func config(t *testing.T) log.Config {
	t.Helper()
	cfg := log.NewConfig(filepath.Join(t.TempDir(), "objects.db"))
	cfg.GroupDelay = 0

	return cfg
}

// open opens a log that the test need not close.
func open(t *testing.T, cfg log.Config) *log.Log {
	t.Helper()
	l, err := log.Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("Open(...): %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close(): %v", err)
		}
	})

	return l
}

func end(t *testing.T, l *log.Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatalf("Close(): %v", err)
	}
}

func apply(t *testing.T, l *log.Log, c log.Change) *log.Record {
	t.Helper()
	result, err := l.Write(t.Context(), c)
	if err != nil || !result.Applied {
		t.Fatalf("Write(%q): got %v, %v, want it applied", c.Key, result, err)
	}

	return result.Record
}

func state(t *testing.T, l *log.Log, revision int64) map[string]string {
	t.Helper()
	list, err := l.List(t.Context(), log.Read{Range: all, Revision: revision})
	if err != nil {
		t.Fatalf("List(all, revision %d): %v", revision, err)
	}
	found := map[string]string{}
	for _, r := range list.Records {
		found[r.Key] = string(r.Value)
	}

	return found
}

func until(t *testing.T, done func() bool, reason string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal(reason)
		case <-tick.C:
		}
	}
}

// key names the keys of tests with many of them.
func key(n int) string { return fmt.Sprintf("/things/%05d", n) }
