// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3" // It reads the state of the write-ahead log.

	"github.com/terrarium-garden/terrarium/storage/log"
)

// slowStore is a destination that takes its time for a file; meanwhile something happens.
type slowStore struct {
	Store

	meanwhile func()
}

func (s *slowStore) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	err := s.Store.Put(ctx, name, write)
	if s.meanwhile != nil {
		s.meanwhile()
	}

	return err
}

// few are the past revisions of a log that keeps next to nothing of its past.
func few(c *log.Config) { c.MinRevisions, c.MaxRevisions = 1, 10 }

// TestSlowDestination: what is written while a file is uploaded is in the next increment, however little of the past the log keeps. It needs no
// further snapshot, which would be as slow.
func TestSlowDestination(t *testing.T) {
	t.Parallel()
	g := newGarden(t, few)
	slow := &slowStore{Store: g.folder, meanwhile: func() {
		for n := range 200 {
			g.put(g.objects, "/registry/a", fmt.Sprint(n))
		}
	}}
	k := g.keeper(func(c *Config) { c.Open = func(context.Context) (Store, error) { return slow, nil } })
	for range 3 {
		g.work(k, time.Minute)
	}
	slow.meanwhile = nil
	g.work(k, time.Minute)
	if full, more := g.count(Full), g.count(Increment); full != 1 || more != 3 {
		t.Errorf("%d snapshots and %d increments, want 1 and 3", full, more)
	}
	dir, _, err := g.restore(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(state(t, g.objects), state(t, opened(t, dir, "objects.db"))); diff != "" {
		t.Errorf("Restored (-want +got):\n%s", diff)
	}
	for n := range 50 {
		g.put(g.objects, "/registry/a", fmt.Sprint(n))
	}
	if err := g.since(1); !errors.Is(err, log.ErrCompacted) {
		t.Errorf("What is shipped is not kept any longer: reading it gave %v, want %v", err, log.ErrCompacted)
	}
}

// since reads the writes of objects after a revision.
func (g *garden) since(after int64) error {
	g.tb.Helper()
	e, err := g.objects.Export(g.tb.Context())
	if err != nil {
		g.tb.Fatal(err)
	}

	return errors.Join(e.Since(g.tb.Context(), after, func(*log.Record) error { return nil }), e.Close())
}

// TestUploadHoldsNothing: once a file is written, the destination may take as long as it likes: the write-ahead log can begin anew meanwhile.
func TestUploadHoldsNothing(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.put(g.objects, "/registry/a", "1")
	db, err := sql.Open("sqlite3", g.objects.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	uploads := 0
	slow := &slowStore{Store: g.folder, meanwhile: func() {
		var busy, pages, moved int
		if err := db.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil || busy != 0 {
			t.Errorf("the write-ahead log cannot begin anew: busy %d, %v", busy, err)
		}
		uploads++
	}}
	if _, err := g.source.save(t.Context(), slow, g.keys); err != nil || uploads != 1 {
		t.Errorf("save: %d uploads, %v", uploads, err)
	}
}

// rolledBack are a garden and its copy from an earlier state, both of which save to the same destination.
func rolledBack(t *testing.T) (ahead, back *garden, last Entry) {
	t.Helper()
	ahead, back = newGarden(t, nil), newGarden(t, nil)
	for _, g := range []*garden{ahead, back} {
		g.put(g.objects, "/registry/a", "1")
		g.put(g.events, "/registry/events/a", "1")
	}
	back.folder, back.keys, back.clock, back.source.Now = ahead.folder, ahead.keys, ahead.clock, ahead.clock.Now

	return ahead, back, ahead.save()
}

// TestMachineGoesBack: a machine that went back to an earlier state does not add its increments to those of the other history.
func TestMachineGoesBack(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(g *garden, value string){
		"Objects": func(g *garden, value string) { g.put(g.objects, "/registry/a", value) },
		"Events":  func(g *garden, value string) { g.put(g.events, "/registry/events/a", value) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ahead, back, last := rolledBack(t)
			write(ahead, "ahead")
			last = ahead.ship(last)
			write(back, "back")
			write(back, "further")
			if _, _, err := back.source.ship(t.Context(), back.folder, back.keys, last); !errors.Is(err, ErrOtherHistory) {
				t.Errorf("ship: %v, want %v", err, ErrOtherHistory)
			}
			back.work(back.keeper(nil), time.Minute)
			if full, more := back.count(Full), back.count(Increment); full != 2 || more != 1 {
				t.Errorf("%d snapshots and %d increments, want a further snapshot", full, more)
			}
			dir, _, err := back.restore(nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(state(t, back.objects), state(t, opened(t, dir, "objects.db"))); diff != "" {
				t.Errorf("Restored (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHistoriesAreNotMixed: files of two histories which fit by their numbers are not put together by a restore.
func TestHistoriesAreNotMixed(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]bool{"Overlap": false, "EndToEnd": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ahead, back, last := rolledBack(t)
			back.put(back.objects, "/registry/a", "back")
			back.ship(last)
			ahead.put(ahead.objects, "/registry/a", "ahead")
			if forget {
				last = ahead.ship(last)
				if err := ahead.folder.Delete(t.Context(), last.Name); err != nil {
					t.Fatal(err)
				}
			}
			ahead.put(ahead.objects, "/registry/a", "further")
			ahead.ship(last)
			if _, done, err := ahead.restore(nil); !errors.Is(err, ErrOtherHistory) {
				t.Errorf("restored revision %d, %v; want %v", done.Revision, err, ErrOtherHistory)
			}
		})
	}
}

// TestRestoreAfterGoingBack: the files of both histories are there, and those of the other one are further. Each history can be restored.
func TestRestoreAfterGoingBack(t *testing.T) {
	t.Parallel()
	ahead, back, last := rolledBack(t)
	for n := range 10 {
		ahead.put(ahead.objects, "/registry/a", fmt.Sprint("ahead", n))
		if n%3 == 0 {
			last = ahead.ship(last)
		}
	}
	before, apart := last.Time, state(t, ahead.objects)
	back.put(back.objects, "/registry/a", "back")
	base := back.save()
	var reached int64
	for n := range 4 {
		reached = back.put(back.objects, "/registry/a", fmt.Sprint("back", n))
		base = back.ship(base)
	}
	if reached >= last.Objects.To {
		t.Fatalf("the history that is left has to be further: %d, %d", reached, last.Objects.To)
	}
	for name, tc := range map[string]struct {
		want Target
		has  map[string]string
	}{
		"Newest": {Target{}, state(t, back.objects)}, "Now": {Target{Time: base.Time}, state(t, back.objects)},
		"Revision": {Target{Revision: reached}, state(t, back.objects)}, "Before": {Target{Time: before}, apart},
	} {
		dir, _, err := back.restore(func(r *Restore) { r.Want = tc.want })
		if err != nil {
			t.Errorf("%s: %v", name, err)

			continue
		}
		if diff := cmp.Diff(tc.has, state(t, opened(t, dir, "objects.db"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestClockSetBack: increments that are earlier than their snapshot, because the clock was set right after it, are of the same history.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.put(g.objects, "/registry/a", "1")
	last := g.save()
	g.put(g.objects, "/registry/a", "2")
	g.save()
	g.clock.SetTime(start.Add(-time.Hour))
	g.put(g.objects, "/registry/a", "3")
	g.ship(last)
	dir, _, err := g.restore(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(state(t, g.objects), state(t, opened(t, dir, "objects.db"))); diff != "" {
		t.Errorf("Restored (-want +got):\n%s", diff)
	}
}

// TestClockWasAhead: a snapshot whose time is still to come is not the newest one if a later one is further. What goes on from it is removed as
// what goes on from any old one.
func TestClockWasAhead(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.clock.SetTime(start.AddDate(10, 0, 0))
	g.put(g.objects, "/registry/a", "ahead")
	ahead := g.save()
	early := state(t, g.objects)
	g.put(g.objects, "/registry/a", "after it")
	removed := g.ship(ahead)
	g.clock.SetTime(start)
	g.put(g.objects, "/registry/a", "corrected")
	last := g.save()
	g.put(g.objects, "/registry/a", "newest")
	last = g.ship(last)
	if err := g.folder.Delete(t.Context(), removed.Name); err != nil {
		t.Fatal(err)
	}
	newest := state(t, g.objects)
	for name, tc := range map[string]struct {
		want Target
		has  map[string]string
	}{
		"Newest": {Target{}, newest}, "Revision": {Target{Revision: last.Objects.To}, newest}, "Name": {Target{Name: ahead.Name}, early},
	} {
		dir, done, err := g.restore(func(r *Restore) { r.Want, r.Now = tc.want, g.clock.Now() })
		if err != nil {
			t.Errorf("%s: %v", name, err)

			continue
		}
		if diff := cmp.Diff(tc.has, state(t, opened(t, dir, "objects.db"))); diff != "" {
			t.Errorf("%s, restored %q (-want +got):\n%s", name, done.Snapshot.Time, diff)
		}
	}
}

// TestTimeOfARevision: a state that ends within an increment is not said to hold all that was written before the end of that.
func TestTimeOfARevision(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.put(g.objects, "/registry/a", "1")
	full := g.save()
	wanted := g.put(g.objects, "/registry/a", "2")
	g.put(g.objects, "/registry/a", "3")
	whole := g.ship(full)
	for revision, until := range map[int64]time.Time{wanted: full.Time, wanted + 1: whole.Time} {
		_, done, err := g.restore(func(r *Restore) { r.Want.Revision = revision })
		if err != nil || !done.Until.Equal(until) {
			t.Errorf("restored revision %d: all before %s, %v; want %s", revision, done.Until, err, until)
		}
	}
}
