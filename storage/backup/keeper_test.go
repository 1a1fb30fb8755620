// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// work has a keeper do what is due at a time.
func (g *garden) work(k *Keeper, after time.Duration) {
	g.tb.Helper()
	g.clock.Step(after)
	if err := k.work(g.tb.Context(), g.clock.Now()); err != nil {
		g.tb.Fatalf("work: %v", err)
	}
}

func (g *garden) count(kind Kind) int {
	g.tb.Helper()
	n := 0
	for _, name := range names(g.tb, g.folder) {
		if strings.HasPrefix(name, string(kind)) {
			n++
		}
	}

	return n
}

// TestKeeper takes snapshots every 12 hours, and increments in between when something was written.
func TestKeeper(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	k := g.keeper(nil)
	g.work(k, time.Minute)
	if full := g.count(Full); full != 1 {
		t.Fatalf("%d snapshots at the start", full)
	}
	g.work(k, time.Minute)
	if n := g.count(Increment); n != 0 {
		t.Errorf("%d increments although nothing was written", n)
	}
	if h := k.Health(); !h.Protected.Equal(g.clock.Now()) || h.Failing || h.Snapshot == nil {
		t.Errorf("Health is %+v at %s", h, g.clock.Now())
	}
	g.put(g.objects, "/registry/a", "1")
	g.work(k, 10*time.Second)
	if n := g.count(Increment); n != 0 {
		t.Errorf("%d increments after 10s", n)
	}
	g.work(k, 20*time.Second)
	if n := g.count(Increment); n != 1 {
		t.Errorf("%d increments after 30s", n)
	}
	// Another server goes on where this one has ended.
	g.put(g.objects, "/registry/a", "2")
	k = g.keeper(nil)
	g.work(k, time.Minute)
	if full, more := g.count(Full), g.count(Increment); full != 1 || more != 2 {
		t.Errorf("After a restart: %d snapshots, %d increments", full, more)
	}
	g.work(k, 12*time.Hour)
	if full := g.count(Full); full != 2 {
		t.Errorf("%d snapshots after 12h", full)
	}
}

// TestKeeperOfAnotherVersion begins anew with a snapshot after an upgrade: increments of the new version never lead from a snapshot of
// the one before, which a restore would give the files of that version.
func TestKeeperOfAnotherVersion(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.work(g.keeper(nil), time.Minute)
	next := func(c *Config) { c.Source.Version = "v2" }
	g.put(g.objects, "/registry/a", "1")
	g.work(g.keeper(next), time.Minute)
	if full, more := g.count(Full), g.count(Increment); full != 2 || more != 0 {
		t.Errorf("After the upgrade: %d snapshots, %d increments; want another snapshot", full, more)
	}
	g.put(g.objects, "/registry/a", "2")
	g.work(g.keeper(next), time.Minute)
	if full, more := g.count(Full), g.count(Increment); full != 2 || more != 1 {
		t.Errorf("At the next start: %d snapshots, %d increments; want an increment", full, more)
	}
}

// TestRenamed does not take a file for the snapshot whose name it has.
func TestRenamed(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	k := g.keeper(nil)
	made, err := k.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	renamed := strings.Replace(made.Name, "snapshot-2", "snapshot-3", 1)
	if err := os.Rename(g.folder.path(made.Name), g.folder.path(renamed)); err != nil {
		t.Fatal(err)
	}
	if is, _, err := k.Describe(t.Context(), renamed); !errors.Is(err, ErrDamaged) {
		t.Errorf("Described as %+v, %v; want that it is damaged", is, err)
	}
	if err := k.verify(t.Context(), renamed); !errors.Is(err, ErrDamaged) {
		t.Errorf("Verified: %v; want that it is damaged", err)
	}
}

// TestKeeperAfterCompaction takes a snapshot where an increment would lack deletions that are no longer in the log.
func TestKeeperAfterCompaction(t *testing.T) {
	t.Parallel()
	g := newGarden(t, func(c *log.Config) { c.MinRevisions, c.MaxRevisions, c.HeldRevisions = 1, 10, 10 })
	k := g.keeper(nil)
	g.put(g.objects, "/registry/gone", "1")
	g.work(k, time.Minute)
	g.remove(g.objects, "/registry/gone")
	for n := range 200 {
		g.put(g.objects, "/registry/a", fmt.Sprint(n))
	}
	g.work(k, time.Minute)
	if full, more := g.count(Full), g.count(Increment); full != 2 || more != 0 {
		t.Errorf("%d snapshots and %d increments, want another snapshot", full, more)
	}
	dir, _, err := g.restore(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(state(t, g.objects), state(t, opened(t, dir, "objects.db"))); diff != "" {
		t.Errorf("Restored (-want +got):\n%s", diff)
	}
}

// TestTwoAtOnce takes snapshots at the same time.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	k := g.keeper(nil)
	var taking sync.WaitGroup
	for n := range 4 {
		g.put(g.objects, fmt.Sprintf("/registry/%d", n), "x")
		taking.Go(func() {
			made, err := k.Take(t.Context())
			if err != nil {
				t.Errorf("take: %v", err)

				return
			}
			if err := k.verify(t.Context(), made.Name); err != nil {
				t.Errorf("verify: %v", err)
			}
		})
	}
	taking.Wait()
}

// TestFullDestination fails with a remedy, leaves nothing behind, and goes on when there is space.
func TestFullDestination(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	store := &fullStore{Folder: g.folder, left: 1000}
	k := g.keeper(func(c *Config) { c.Open = func(context.Context) (Store, error) { return store, nil } })
	_, err := k.Take(t.Context())
	if !errors.Is(err, errNoSpace) || !strings.Contains(err.Error(), "free space on the disk of") {
		t.Errorf("got %v", err)
	}
	if left := names(t, g.folder); len(left) > 0 {
		t.Errorf("Left: %v", left)
	}
	if h := k.Health(); !h.Failing || h.LastError == "" {
		t.Errorf("Health is %+v", h)
	}
	store.left = 1 << 20
	if _, err := k.Take(t.Context()); err != nil || k.Health().Failing {
		t.Errorf("With space: %v, %+v", err, k.Health())
	}
}

// TestAnotherGarden never writes to, and never cleans, the folder of another garden.
func TestAnotherGarden(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	g.save()
	g.source.Garden = func() string { return "garden-2" }
	if _, err := g.keeper(nil).Take(t.Context()); err == nil || !strings.Contains(err.Error(), "another garden") {
		t.Errorf("got %v", err)
	}
}

func TestDeleteKeepsTheNewest(t *testing.T) {
	t.Parallel()
	g := newGarden(t, nil)
	k := g.keeper(nil)
	first, err := k.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g.put(g.objects, "/registry/a", "1")
	second, err := k.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Delete(t.Context(), second.Name); !errors.Is(err, ErrNewest) {
		t.Errorf("The newest: %v", err)
	}
	for _, name := range []string{"../../etc/passwd", "nothing", second.Name + "/x"} {
		if err := k.Delete(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := k.Delete(t.Context(), first.Name); err != nil {
		t.Error(err)
	}
}

// TestRetention lets a year pass with a snapshot every six hours.
func TestRetention(t *testing.T) {
	t.Parallel()
	r := Retention{Keep: 5, Window: 24 * time.Hour}
	now := start
	var all []Entry
	for n := range 365 * 4 {
		now = now.Add(6 * time.Hour)
		all = append(all, Entry{Name: fmt.Sprint(n), Kind: Full, Time: now, Objects: Span{To: int64(10 * n)}},
			Entry{Name: fmt.Sprint(n, "+"), Kind: Increment, Time: now.Add(time.Hour), Objects: Span{From: int64(10 * n), To: int64(10*n + 5)}})
		gone := map[string]bool{}
		for _, e := range r.surplus(all, now.Add(time.Hour)) {
			gone[e.Name] = true
		}
		var kept []Entry
		for _, e := range all {
			if !gone[e.Name] {
				kept = append(kept, e)
			}
		}
		all = kept
	}
	var ages []int
	for _, e := range snapshots(all) {
		ages = append(ages, int(now.Sub(e.Time)/time.Hour))
	}
	if len(ages) < 5+6+4 || len(ages) > 5+8+5 {
		t.Errorf("%d snapshots are kept, of these ages in hours: %v", len(ages), ages)
	}
	if diff := cmp.Diff([]int{0, 6, 12, 18, 24}, ages[:5]); diff != "" {
		t.Errorf("The newest are kept (-want +got):\n%s", diff)
	}
	if oldest := ages[len(ages)-1]; oldest < 3*7*24 || oldest > 5*7*24+24 {
		t.Errorf("The oldest is %d hours old.", oldest)
	}
	for i := 6; i < len(ages); i++ {
		if gap := ages[i] - ages[i-1]; gap > 8*24 {
			t.Errorf("%d hours between two snapshots: %v", gap, ages)
		}
	}
	if n := len(increments(all)); n < 4 || n > 6 {
		t.Errorf("%d increments are kept for a day.", n)
	}
}
