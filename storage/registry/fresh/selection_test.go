// SPDX-License-Identifier: Apache-2.0

package fresh_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// TestSelectingWatchesShare has many watches with selectors go on over a restart, from different versions. Each record is decoded for all
// of them together, and each is told of its own changes only.
func TestSelectingWatchesShare(t *testing.T) {
	t.Parallel()
	const seeds, rounds = 40, 5
	path := file(t)
	p := open(t, path)
	start := p.set(t, "first").ResourceVersion
	want, from := make([][]told, seeds), make([]string, seeds)
	for round := range rounds {
		for n := range seeds {
			if round == 0 {
				from[n] = start
			}
			seed := "seed-" + strconv.Itoa(n)
			one := told{watch.Added, "shoot-" + strconv.Itoa(n), p.set(t, "shoot-"+strconv.Itoa(n), seed, strconv.Itoa(round)).ResourceVersion}
			if round > 0 {
				one.Type = watch.Modified
			}
			want[n] = append(want[n], one)
			if n%3 == 0 && round == 1 { // These have seen what was until here.
				from[n], want[n] = one.Version, nil
			}
		}
	}
	p.close()

	decoded := &atomic.Int64{}
	p = openWith(t, getter{decoded: decoded}, path)
	before := decoded.Load()
	var watchers errgroup.Group
	for n := range seeds {
		w := p.watch(t, prefix, from[n], selecting("seed-"+strconv.Itoa(n)))
		watchers.Go(func() error {
			var got []told
			for range want[n] {
				got = append(got, tell(t, next(t, w)))
			}
			if diff := cmp.Diff(want[n], got); diff != "" {
				t.Errorf("watch %d (-want +got):\n%s", n, diff)
			}
			if mark := tell(t, next(t, w)); mark.Type != watch.Bookmark {
				t.Errorf("watch %d received %v; want a bookmark, as nothing else is left", n, mark)
			}

			return nil
		})
	}
	_ = watchers.Wait()
	// Each record is decoded for the index, with what it replaced where that was not met before, and for the one watch that it concerns.
	if most := int64(5 * seeds * rounds); decoded.Load()-before > most {
		t.Errorf("%d objects were decoded for %d records and %d watches, want at most %d", decoded.Load()-before, seeds*rounds, seeds, most)
	}
	for n := range 3 { // They go on with the cache.
		w := p.watch(t, prefix, start, selecting("seed-"+strconv.Itoa(n)))
		for range rounds + 1 {
			next(t, w)
		}
		wanted := told{watch.Modified, "shoot-" + strconv.Itoa(n), p.set(t, "shoot-"+strconv.Itoa(n), "seed-"+strconv.Itoa(n), "more").ResourceVersion}
		if got := tell(t, next(t, w)); got != wanted {
			t.Errorf("received %v; want %v", got, wanted)
		}
	}
}

// TestSelectingWatchesGoNotTooFar has those list again that would have to go over more changes than a list takes.
func TestSelectingWatchesGoNotTooFar(t *testing.T) {
	t.Parallel()
	const most = 20
	path := file(t)
	p := open(t, path)
	versions := []string{p.set(t, "hot", "a").ResourceVersion}
	for n := range 2 * most {
		versions = append(versions, p.set(t, "hot", "a", strconv.Itoa(n)).ResourceVersion)
	}
	p.close()

	p = openWith(t, getter{farthest: most}, path)
	for _, tc := range []struct {
		reason string
		behind int
		gone   bool
	}{
		{"a watch within the bound goes on", most, false},
		{"one beyond it does not", most + 1, true},
		{"neither does one that is behind it still more", 2 * most, true},
		{"others go on", 5, false},
	} {
		e := next(t, p.watch(t, prefix, versions[len(versions)-1-tc.behind], selecting("a")))
		status, gone := e.Object.(*metav1.Status)
		if gone != tc.gone || gone && status.Code != http.StatusGone {
			t.Errorf("%s: %d changes behind, received %v %v", tc.reason, tc.behind, e.Type, e.Object)
		}
	}
	// Without a selector, a watch goes over all of them.
	w := p.watch(t, prefix, versions[0], storage.Everything)
	for range 2 * most {
		if e := next(t, w); e.Type != watch.Modified {
			t.Fatalf("received %v %v; want a change", e.Type, e.Object)
		}
	}
}

// TestSelectingWatchOfTheState begins with what is selected, says when that was all, and goes on with changes.
func TestSelectingWatchOfTheState(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	for n := range 20 {
		p.set(t, fmt.Sprintf("other-%d", n), "other")
	}
	b := told{watch.Added, "b", p.set(t, "b", "mine").ResourceVersion}
	p.line.hold() // The cache does not know the last one yet.
	a := told{watch.Added, "a", p.set(t, "a", "mine").ResourceVersion}
	o := storage.ListOptions{
		SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Predicate: selecting("mine"), Recursive: true,
	}
	w, err := p.Watch(t.Context(), prefix, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	select {
	case e := <-w.ResultChan():
		t.Errorf("received %v before the cache was as new as the last write", e)
	case <-time.After(50 * time.Millisecond):
	}
	p.line.release()
	if diff := cmp.Diff([]told{a, b}, []told{tell(t, next(t, w)), tell(t, next(t, w))}); diff != "" {
		t.Errorf("the state comes first (-want +got):\n%s", diff)
	}
	end := next(t, w)
	mark, ok := plain(end).(*thing)
	if !ok || end.Type != watch.Bookmark || mark.ResourceVersion != a.Version || mark.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
		t.Fatalf("received %v %v; want the bookmark of version %s that ends the state", end.Type, end.Object, a.Version)
	}
	p.set(t, "other-1", "other", "again")
	left := told{watch.Deleted, "a", p.set(t, "a").ResourceVersion}
	entered := told{watch.Added, "other-2", p.set(t, "other-2", "mine").ResourceVersion}
	if diff := cmp.Diff([]told{left, entered}, []told{change(t, w), change(t, w)}); diff != "" {
		t.Errorf("then come changes (-want +got):\n%s", diff)
	}
}

// TestSelectingWatchOfAFutureState is told why it cannot begin.
func TestSelectingWatchOfAFutureState(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	p.set(t, "a", "mine")
	w, err := p.Watch(t.Context(), prefix, storage.ListOptions{
		ResourceVersion: "1000000", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, SendInitialEvents: new(true),
		Predicate: selecting("mine"), Recursive: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	e := next(t, w)
	if status, ok := e.Object.(*metav1.Status); !ok || e.Type != watch.Error || status.Reason != metav1.StatusReasonTimeout {
		t.Errorf("received %v %v; want an error that says that the version is too large", e.Type, e.Object)
	}
}
