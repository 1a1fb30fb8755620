// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// hurtStore is a destination that damages snapshots while it is told to.
type hurtStore struct {
	*Folder

	hurt bool
	puts int
}

func (s *hurtStore) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	if err := s.Folder.Put(ctx, name, write); err != nil || !s.hurt || !strings.HasPrefix(name, string(Full)) {
		return err
	}
	s.puts++

	return os.Truncate(s.path(name), 100)
}

// TestUnreadableSnapshot removes a snapshot that cannot be read again, waits longer each time before it takes another one, and goes on
// with increments meanwhile.
func TestUnreadableSnapshot(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	store := &hurtStore{Folder: g.folder}
	k := g.keeper(func(c *Config) { c.Open = func(context.Context) (Store, error) { return store, nil } })
	g.work(k, time.Minute)
	store.hurt = true
	g.clock.Step(12 * time.Hour)
	for range 60 * time.Minute / look {
		g.put(g.objects, "/registry/a", g.clock.Now().String())
		g.clock.Step(look)
		if err := k.work(t.Context(), g.clock.Now()); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		if !k.Health().Failing {
			t.Fatal("No failure is reported while the snapshot is overdue.")
		}
	}
	if n := g.count(Full); n != 1 {
		t.Errorf("%d snapshots are left, want the first one only", n)
	}
	if store.puts < 5 || store.puts > 12 {
		t.Errorf("%d snapshots were tried in an hour", store.puts)
	}
	if n := g.count(Increment); n < 110 || n > 130 {
		t.Errorf("%d increments were made in an hour", n)
	}
	store.hurt = false
	g.work(k, mostRetry)
	if n := g.count(Full); n != 2 || k.Health().Failing {
		t.Errorf("%d snapshots once they can be read, %+v", n, k.Health())
	}
}

// TestDamagedRecord saves no record that is damaged in the database, and goes on once its key is removed.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	var path string
	g := newGarden(t, func(c *log.Config) {
		if filepath.Base(c.File) == "objects.db" {
			path = c.File
		}
	})
	k := g.keeper(nil)
	g.work(k, time.Minute)
	g.put(g.objects, "/registry/a", "1")
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE log SET value = '"2"' WHERE name = '/registry/a'`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	g.clock.Step(time.Minute)
	if err := k.work(t.Context(), g.clock.Now()); !errors.Is(err, log.ErrDamaged) || !k.Health().Failing {
		t.Errorf("got %v, %+v", err, k.Health())
	}
	if full, more := g.count(Full), g.count(Increment); full != 1 || more != 0 {
		t.Errorf("%d snapshots and %d increments with a damaged record", full, more)
	}
	g.remove(g.objects, "/registry/a")
	g.put(g.objects, "/registry/b", "1")
	g.work(k, time.Minute)
	if full, more := g.count(Full), g.count(Increment); full != 2 || more != 0 || k.Health().Failing {
		t.Errorf("%d snapshots and %d increments without it, %+v", full, more, k.Health())
	}
	g.put(g.objects, "/registry/c", "1")
	g.work(k, time.Minute)
	if full, more := g.count(Full), g.count(Increment); full != 2 || more != 1 {
		t.Errorf("%d snapshots and %d increments after that, want increments to go on", full, more)
	}
	dir, _, err := g.restore(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(state(t, g.objects), state(t, opened(t, dir, "objects.db"))); diff != "" {
		t.Errorf("Restored (-want +got):\n%s", diff)
	}
}

// TestDamagedNewest opens folders whose newest snapshot cannot be read.
func TestDamagedNewest(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	made := g.save()
	later := Manifest{Kind: Full, Time: start.Add(time.Hour), Objects: Span{To: made.Objects.To + 10}}
	if err := writeText(g.folder.path(nameOf(later)), nil); err != nil {
		t.Fatal(err)
	}
	other := *g
	other.source.Garden = func() string { return "garden-2" }
	if _, err := other.keeper(nil).Take(t.Context()); err == nil || !strings.Contains(err.Error(), "another garden") {
		t.Errorf("The folder of another garden: %v", err)
	}
	k := g.keeper(nil)
	g.work(k, 2*time.Hour)
	if n := g.count(Full); n != 3 {
		t.Errorf("%d snapshots, want a new one at once", n)
	}
}

// TestClockGoesBack takes snapshots although there is one that was taken while the clock was years ahead.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.clock.SetTime(start.AddDate(4, 0, 0))
	g.save()
	g.clock.SetTime(start)
	k := g.keeper(nil)
	g.work(k, time.Minute)
	if n := g.count(Full); n != 2 {
		t.Errorf("%d snapshots, want a new one at once", n)
	}
	g.work(k, time.Minute)
	if n := g.count(Full); n != 2 {
		t.Errorf("%d snapshots a minute later", n)
	}
}
