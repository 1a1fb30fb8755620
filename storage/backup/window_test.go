// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestWindow restores to each moment of the window, also with a snapshot that was taken by hand and one that was lost.
func TestWindow(t *testing.T) {
	t.Parallel()
	for _, interval := range []time.Duration{time.Hour, 6 * time.Hour, 12 * time.Hour} {
		r := Retention{Keep: 5, Window: 24 * time.Hour}
		var all []Entry
		now, n := start, int64(0)
		for age := time.Duration(0); age <= 76*time.Hour; age += 10 * time.Minute {
			now = start.Add(age)
			if age%interval == 0 || age%(19*time.Hour) == 0 {
				// The snapshot comes after some writes that are in no increment yet.
				all = append(all, Entry{Name: fmt.Sprint("full ", age), Kind: Full, Time: now, Objects: Span{To: n + 5}})
				all = remaining(all, r.surplus(all, now))
				reachable(t, fmt.Sprint(interval, " after ", age), all, now, min(age, r.Window))
			}
			all = append(all, Entry{Name: fmt.Sprint(age), Kind: Increment, Time: now.Add(time.Minute), Objects: Span{From: n, To: n + 10}})
			n += 10
		}
		for _, lost := range snapshots(all)[:4] {
			reachable(t, fmt.Sprint(interval, " without ", lost.Name), remaining(all, []Entry{lost}), now, 20*time.Hour)
		}
	}
}

func remaining(all, gone []Entry) []Entry {
	names := map[string]bool{}
	for _, e := range gone {
		names[e.Name] = true
	}
	var kept []Entry
	for _, e := range all {
		if !names[e.Name] {
			kept = append(kept, e)
		}
	}

	return kept
}

func reachable(t *testing.T, what string, all []Entry, now time.Time, window time.Duration) {
	t.Helper()
	for at := now.Add(-window); at.Before(now); at = at.Add(37 * time.Minute) {
		reached, then, err := choose(all, Target{Time: at}, nil)
		if n := len(then); n > 0 {
			reached = then[n-1]
		}
		if err != nil || at.Sub(reached.Time) > 11*time.Minute {
			t.Errorf("%s: %s ago leads to %s ago, %v", what, now.Sub(at), now.Sub(reached.Time), err)

			return
		}
	}
}

// TestIncrementsGoOnOverSnapshots loses a snapshot, and with it nothing: neither in one run of a server nor over a restart.
func TestIncrementsGoOnOverSnapshots(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"OneRun": false, "Restart": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGarden(t, nil)
			k := g.keeper(nil)
			g.work(k, time.Minute)
			g.put(g.objects, "/registry/a", "before the last increment")
			g.work(k, time.Minute)
			g.put(g.objects, "/registry/b", "before the snapshot")
			lost, err := k.Take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if restart {
				k = g.keeper(nil)
			}
			g.put(g.objects, "/registry/c", "after it")
			g.work(k, time.Minute)
			if full, more := g.count(Full), g.count(Increment); full != 2 || more != 2 {
				t.Errorf("%d snapshots and %d increments", full, more)
			}
			if err := g.folder.Delete(t.Context(), lost.Name); err != nil {
				t.Fatal(err)
			}
			dir, _, err := g.restore(nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(state(t, g.objects), state(t, opened(t, dir, "objects.db"))); diff != "" {
				t.Errorf("Restored (-want +got):\n%s", diff)
			}
		})
	}
}
