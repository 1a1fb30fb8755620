// SPDX-License-Identifier: Apache-2.0

package fresh_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/storage/log"
	"github.com/terrarium-garden/terrarium/storage/registry/fresh"
)

// TestCrowd has many watches that are up to date told of what concerns them. The watch cache is held, so that it cannot be who tells
// them, and each change is decoded for the watches that it concerns, however many there are.
func TestCrowd(t *testing.T) {
	t.Parallel()
	const seeds, rounds = 60, 6
	decoded := &atomic.Int64{}
	p := openWith(t, getter{decoded: decoded}, file(t))
	start := p.set(t, "first").ResourceVersion
	watches := make([]watch.Interface, seeds)
	for n := range seeds {
		watches[n] = p.watch(t, prefix, start, selecting("seed-"+strconv.Itoa(n)))
	}
	p.line.hold()
	before := decoded.Load()
	want := make([][]told, seeds)
	for round := range rounds {
		for n := range seeds {
			name, here, there := "shoot-"+strconv.Itoa(n), "seed-"+strconv.Itoa(n), "seed-"+strconv.Itoa((n+1)%seeds)
			add := func(seed int, kind watch.EventType, version string) {
				want[seed] = append(want[seed], told{kind, name, version})
			}
			switch round {
			case 0:
				add(n, watch.Added, p.set(t, name, here).ResourceVersion)
			case 1:
				add(n, watch.Modified, p.set(t, name, here, "more").ResourceVersion)
			case 2: // It moves, and is with both for a while.
				version := p.set(t, name, here, there).ResourceVersion
				add(n, watch.Modified, version)
				add((n+1)%seeds, watch.Added, version)
			case 3:
				version := p.set(t, name, there).ResourceVersion
				add(n, watch.Deleted, version)
				add((n+1)%seeds, watch.Modified, version)
			case 4:
				add((n+1)%seeds, watch.Deleted, p.remove(t, name).ResourceVersion)
			case 5:
				p.set(t, name, "nobody")
			}
		}
	}
	for n, w := range watches {
		var got []told
		for range want[n] {
			got = append(got, change(t, w))
		}
		if diff := cmp.Diff(want[n], got); diff != "" {
			t.Errorf("watch %d (-want +got):\n%s", n, diff)
		}
	}
	// A write decodes what is there and what it has written; then there are the index, and the one or two watches.
	if most := int64(10 * seeds * rounds); decoded.Load()-before > most {
		t.Errorf("%d objects were decoded for %d records and %d watches, want at most %d", decoded.Load()-before, seeds*rounds, seeds, most)
	}
}

// TestCrowdSelects tells each watch of what its whole predicate selects, and not only of what has the label or field by which it is found.
func TestCrowdSelects(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	start := p.set(t, "first").ResourceVersion
	p.line.hold()
	both := p.watch(t, prefix, start, predicate(t, "a=yes,b=yes", ""))
	one := p.watch(t, prefix, start, predicate(t, "a in (yes),b!=yes", ""))
	field := p.watch(t, prefix, start, predicate(t, "", "data.a=a"))
	a := p.set(t, "thing", "a").ResourceVersion
	ab := p.set(t, "thing", "a", "b").ResourceVersion
	gone := p.remove(t, "thing").ResourceVersion
	for reason, tc := range map[string]struct {
		watch watch.Interface
		want  []told
	}{
		"two labels":           {both, []told{{watch.Added, "thing", ab}, {watch.Deleted, "thing", gone}}},
		"one and not another":  {one, []told{{watch.Added, "thing", a}, {watch.Deleted, "thing", ab}}},
		"the value of a field": {field, []told{{watch.Added, "thing", a}, {watch.Modified, "thing", ab}, {watch.Deleted, "thing", gone}}},
	} {
		var got []told
		for range tc.want {
			got = append(got, change(t, tc.watch))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestOneOfSeveralValues is told of an object with any of the values that its selector accepts.
func TestOneOfSeveralValues(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	start := p.set(t, "first").ResourceVersion
	w := p.watch(t, prefix, start, predicate(t, "a in (yes,no,maybe,often,seldom)", ""))
	p.set(t, "other", "b")
	want := told{watch.Added, "thing", p.set(t, "thing", "a").ResourceVersion}
	if got := change(t, w); got != want {
		t.Errorf("received %v; want %v", got, want)
	}
}

func predicate(t *testing.T, byLabel, byField string) storage.SelectionPredicate {
	t.Helper()
	p := selecting("")
	p.GetAttrs = attributes
	var err error
	if p.Label, err = labels.Parse(byLabel); err != nil {
		t.Fatal(err)
	}
	if p.Field, err = fields.ParseSelector(byField); err != nil {
		t.Fatal(err)
	}

	return p
}

// TestCrowdWaitsForNobody has a watch that takes nothing for long. It does not miss anything, and does not hold up others.
func TestCrowdWaitsForNobody(t *testing.T) {
	t.Parallel()
	const changes = fresh.Patient + 100
	p := open(t, file(t))
	start := p.set(t, "hot", "a", "start").ResourceVersion
	slow, quick := p.watch(t, prefix, start, selecting("a")), p.watch(t, prefix, start, selecting("a"))
	p.line.hold()
	var want []told
	for n := range changes {
		one := told{watch.Modified, "hot", p.set(t, "hot", "a", strconv.Itoa(n)).ResourceVersion}
		want = append(want, one)
		if got := change(t, quick); got != one {
			t.Fatalf("received %v; want %v", got, one)
		}
	}
	var got []told
	for range want {
		got = append(got, change(t, slow))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the slow one (-want +got):\n%s", diff)
	}
}

// TestCloseOfABusyCache closes a store while its watch cache is handed more changes than it can pass on. It does not hang.
func TestCloseOfABusyCache(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	for range 300 { // They take nothing.
		p.watch(t, prefix, "", storage.Everything)
	}
	p.line.hold()
	for n := range 600 {
		p.set(t, "hot", "a", strconv.Itoa(n))
	}
	p.line.release()
	until(t, "the cache takes changes", func() bool { return p.get(t, "hot", "0").Name != "" })
	p.close()
}

// TestCrowdOfAQuietKind has watches wait while so much else is written that the log forgets what it had when they began.
func TestCrowdOfAQuietKind(t *testing.T) {
	t.Parallel()
	p := open(t, file(t), func(c *log.Config) { c.Retain, c.MinRevisions, c.HistoryBytes = 0, 10, 1 })
	start := p.set(t, "thing", "a").ResourceVersion
	w := p.watch(t, prefix, start, selecting("a"))
	changed := told{watch.Modified, "thing", p.set(t, "thing", "a", "1").ResourceVersion}
	if got := change(t, w); got != changed {
		t.Fatalf("received %v; want %v", got, changed)
	}
	p.line.hold()
	began, everything := p.log.Revision(), log.Range{Key: "/", End: "0"}
	until(t, "the log has forgotten", func() bool {
		for range 100 {
			if _, err := p.log.Write(t.Context(), log.Change{Key: "/else", Value: []byte("x"), Revision: p.log.Head("/else")}); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := p.log.Changes(t.Context(), everything, began, p.log.Revision())

		return errors.Is(err, log.ErrCompacted)
	})
	want := told{watch.Modified, "thing", p.set(t, "thing", "a", "2").ResourceVersion}
	if got := change(t, w); got != want {
		t.Errorf("received %v; want %v", got, want)
	}
}

// TestIndexHasNoGap asks for changes of which the first are forgotten while the last are read.
func TestIndexHasNoGap(t *testing.T) {
	t.Parallel()
	p := openWith(t, getter{farthest: 8}, file(t))
	defer fresh.Use(p.Interface)()
	write := func() int64 {
		t.Helper()
		revision, err := strconv.ParseInt(p.set(t, "hot", "a", strconv.FormatInt(p.log.Revision(), 10)).ResourceVersion, 10, 64)
		if err != nil {
			t.Fatal(err)
		}

		return revision
	}
	all := selecting("a")
	var revisions []int64
	for range 6 {
		revisions = append(revisions, write())
	}
	if found, err := fresh.Selected(t.Context(), p.Interface, revisions[2], &all); len(found) != 3 || err != nil {
		t.Fatalf("found %v, %v; want 3", found, err)
	}
	for range 8 {
		revisions = append(revisions, write())
	}
	if found, err := fresh.Selected(t.Context(), p.Interface, revisions[0], &all); !errors.Is(err, fresh.ErrFar) {
		t.Errorf("found %v, %v of %v; want %v", found, err, revisions[1:], fresh.ErrFar)
	}
	found, err := fresh.Selected(t.Context(), p.Interface, revisions[6], &all)
	if diff := cmp.Diff(revisions[7:], found); diff != "" || err != nil {
		t.Errorf("what is within the bound: %v (-want +got):\n%s", err, diff)
	}
}

// TestWaitingWatchHasNoSeat begins a watch while what it has missed is read for another one. It keeps no place among the requests that are worked on.
func TestWaitingWatchHasNoSeat(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	start := p.set(t, "old", "a").ResourceVersion
	done := fresh.Busy(p.Interface)
	seat := make(seat, 1)
	w, err := p.Watch(utilflowcontrol.WithInitializationSignal(t.Context(), seat), prefix, storage.ListOptions{ResourceVersion: start, Predicate: selecting("a"), Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	select {
	case <-seat:
	case <-time.After(10 * time.Second):
		t.Error("the watch keeps its place while it waits for another one")
	}
	done()
	want := told{watch.Modified, "old", p.set(t, "old", "a", "b").ResourceVersion}
	if got := change(t, w); got != want {
		t.Errorf("received %v; want %v", got, want)
	}
}

// TestIndexKnowsThatThereIsNothing asks for the changes of a kind that has none, among many of another kind, after ever later revisions. They are read
// once: a thousand gardenlets that come back would read them a thousand times.
func TestIndexKnowsThatThereIsNothing(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	defer fresh.Use(p.Interface)()
	p.set(t, "old", "a")
	began := p.log.Revision()
	all := selecting("a")
	var last int64
	for n := range 5 {
		r, err := p.log.Write(t.Context(), log.Change{Key: "/leases/" + strconv.Itoa(n), Value: []byte("x")})
		if err != nil {
			t.Fatal(err)
		}
		last = r.Revision
	}
	for after := began; after <= last; after++ {
		if found, err := fresh.Selected(t.Context(), p.Interface, after, &all); len(found) > 0 || err != nil {
			t.Fatalf("after %d, found %v, %v; want nothing", after, found, err)
		}
		if from, upTo := fresh.Reach(p.Interface); from != began || upTo != last {
			t.Fatalf("after the question about revision %d the index knows of %d to %d; want %d to %d", after, from, upTo, began, last)
		}
	}
	// A change of the kind is found by those who ask from before.
	if p.set(t, "new", "a"); p.log.Revision() != last+1 {
		t.Fatalf("the log is at %d, want %d", p.log.Revision(), last+1)
	}
	if found, err := fresh.Selected(t.Context(), p.Interface, began, &all); !cmp.Equal(found, []int64{last + 1}) || err != nil {
		t.Errorf("found %v, %v; want %d", found, err, last+1)
	}
}

// TestCrowdUnderWrites has watches come and go while much is written. None misses a change or is told of one twice.
func TestCrowdUnderWrites(t *testing.T) {
	t.Parallel()
	const changes, watches = 300, 12
	p := open(t, file(t))
	versions := make(chan string, changes)
	versions <- p.set(t, "hot", "a", "-1").ResourceVersion
	var group errgroup.Group
	for range watches {
		group.Go(func() error {
			for version := range versions {
				w, err := p.Watch(t.Context(), prefix, storage.ListOptions{ResourceVersion: version, Predicate: selecting("a"), Recursive: true})
				if err != nil {
					t.Errorf("watch from %s: %v", version, err)

					return nil
				}
				last, _ := strconv.Atoi(version)
				for range 5 {
					e, ok, err := take(w)
					for ok && e.Type == watch.Bookmark {
						e, ok, err = take(w)
					}
					if err != nil {
						return fmt.Errorf("after version %d: %w", last, err)
					}
					if !ok {
						break
					}
					one, known := plain(e).(*thing)
					if !known || one.ResourceVersion != strconv.Itoa(last+1) {
						t.Errorf("received %v %v after version %d", e.Type, e.Object, last)

						break
					}
					last++
				}
				w.Stop()
			}

			return nil
		})
	}
	for n := range changes {
		version := p.set(t, "hot", "a", strconv.Itoa(n)).ResourceVersion
		if n < changes-10 {
			versions <- version
		}
	}
	close(versions)
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// TestCrowdMarks sends bookmarks with the newest version, from time to time and before the end of the request.
func TestCrowdMarks(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Now())
	p := openWith(t, getter{clock: c}, file(t))
	start := p.set(t, "mine", "a").ResourceVersion
	w := p.watch(t, prefix, start, selecting("a"))
	version := p.set(t, "others", "b").ResourceVersion
	until(t, "a bookmark has the version of what concerns others", func() bool {
		until(t, "the watch waits", c.HasWaiters)
		c.Step(time.Minute)
		got := tell(t, next(t, w))
		if got.Type != watch.Bookmark {
			t.Fatalf("received %v; want a bookmark", got)
		}

		return got.Version == version
	})
}

// TestCrowdMarksTheEnd sends the last bookmark shortly before the time limit of the request.
func TestCrowdMarksTheEnd(t *testing.T) {
	t.Parallel()
	c := clocktesting.NewFakeClock(time.Now())
	p := openWith(t, getter{clock: c}, file(t))
	start := p.set(t, "mine", "a").ResourceVersion
	limited, cancel := context.WithDeadline(t.Context(), c.Now().Add(30*time.Second))
	t.Cleanup(cancel)
	w, err := p.Watch(limited, prefix, storage.ListOptions{ResourceVersion: start, Predicate: selecting("a"), Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	until(t, "the watch waits", c.HasWaiters)
	c.Step(30*time.Second - fresh.BeforeTheEnd)
	if got, want := tell(t, next(t, w)), (told{watch.Bookmark, "", start}); got != want {
		t.Errorf("received %v; want %v", got, want)
	}
}

// TestCrowdOfTheClosed ends all watches with the log.
func TestCrowdOfTheClosed(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	start := p.set(t, "mine", "a").ResourceVersion
	w := p.watch(t, prefix, start, selecting("a"))
	p.set(t, "mine", "a", "b")
	if got := change(t, w); got.Type != watch.Modified {
		t.Errorf("received %v", got)
	}
	p.close()
	for open := true; open; {
		var err error
		if _, open, err = take(w); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCrowdGivesItsSeatBack says that the watch is initialized once it has what there is, so that it does not count as a request that is
// still to be served: else a few hundred watches would shut out all other requests.
func TestCrowdGivesItsSeatBack(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	start := p.set(t, "mine", "a").ResourceVersion
	for reason, o := range map[string]storage.ListOptions{
		"from a version": {ResourceVersion: start, Predicate: selecting("a"), Recursive: true},
		"with the state": {SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Predicate: selecting("a"), Recursive: true},
	} {
		seat := make(seat, 1)
		w, err := p.Watch(utilflowcontrol.WithInitializationSignal(t.Context(), seat), prefix, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		select {
		case <-seat:
		case <-time.After(time.Minute):
			t.Errorf("%s: the watch keeps its seat", reason)
		}
	}
}

// seat is sent to when a watch no longer needs it, which the watch may say again.
type seat chan struct{}

func (s seat) Signal() {
	select {
	case s <- struct{}{}:
	default:
	}
}

func (s seat) Wait() { <-s }
