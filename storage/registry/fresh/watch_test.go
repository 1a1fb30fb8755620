// SPDX-License-Identifier: Apache-2.0

package fresh_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// told is what a watch tells of a change.
type told struct {
	Type          watch.EventType
	Name, Version string
}

// selecting selects things by a label, and wants bookmarks.
func selecting(label string) storage.SelectionPredicate {
	all := storage.Everything
	all.AllowWatchBookmarks = true
	if label != "" {
		all.Label = labels.SelectorFromSet(labels.Set{label: "yes"})
		all.GetAttrs = attributes
	}

	return all
}

func (p *place) watch(t *testing.T, key, version string, predicate storage.SelectionPredicate) watch.Interface {
	t.Helper()
	w, err := p.Watch(t.Context(), key, storage.ListOptions{ResourceVersion: version, Predicate: predicate, Recursive: key == prefix})
	if err != nil {
		t.Fatalf("watch from version %s: %v", version, err)
	}
	t.Cleanup(w.Stop)

	return w
}

func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	e, open, err := take(w)
	switch {
	case err != nil:
		t.Fatal(err)
	case !open:
		t.Fatal("the watch has ended")
	}

	return e
}

// errNothing says that a watch has told nothing for long, and has not ended.
var errNothing = errors.New("nothing comes")

// take is next for goroutines of a test. The watch may have ended.
func take(w watch.Interface) (e watch.Event, open bool, err error) {
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	select {
	case e, open = <-w.ResultChan():
		return e, open, nil
	case <-limit.C:
		return e, false, errNothing
	}
}

// plain is the object of an event, which the watch cache may have wrapped.
func plain(e watch.Event) runtime.Object {
	if shared, ok := e.Object.(runtime.CacheableObject); ok {
		return shared.GetObject()
	}

	return e.Object
}

func tell(t *testing.T, e watch.Event) told {
	t.Helper()
	one, ok := plain(e).(*thing)
	if !ok {
		t.Fatalf("received %v: %v; want a change", e.Type, e.Object)
	}

	return told{e.Type, one.Name, one.ResourceVersion}
}

// change is the next event that is not a bookmark.
func change(t *testing.T, w watch.Interface) told {
	t.Helper()
	for {
		if one := tell(t, next(t, w)); one.Type != watch.Bookmark {
			return one
		}
	}
}

// TestWatchOverARestart goes on from before a restart, and beyond.
func TestWatchOverARestart(t *testing.T) {
	t.Parallel()
	path := file(t)
	p := open(t, path)
	start := p.set(t, "first", "a").ResourceVersion
	made := p.set(t, "second", "a").ResourceVersion
	left := p.set(t, "second", "b").ResourceVersion
	entered := p.set(t, "first", "b").ResourceVersion
	changed := p.set(t, "first", "b", "more").ResourceVersion
	removed := p.remove(t, "first").ResourceVersion
	p.close()

	p = open(t, path)
	for name, tc := range map[string]struct {
		key, label string
		want       []told
	}{
		"everything": {key: prefix, want: []told{
			{watch.Added, "second", made},
			{watch.Modified, "second", left},
			{watch.Modified, "first", entered},
			{watch.Modified, "first", changed},
			{watch.Deleted, "first", removed},
			{watch.Bookmark, "", removed},
		}},
		"what was": {key: prefix, label: "a", want: []told{
			{watch.Added, "second", made}, {watch.Deleted, "second", left}, {watch.Deleted, "first", entered}, {watch.Bookmark, "", removed},
		}},
		"what became": {key: prefix, label: "b", want: []told{
			{watch.Added, "second", left},
			{watch.Added, "first", entered},
			{watch.Modified, "first", changed},
			{watch.Deleted, "first", removed},
			{watch.Bookmark, "", removed},
		}},
		"one": {key: prefix + "/second", want: []told{
			{watch.Added, "second", made}, {watch.Modified, "second", left}, {watch.Bookmark, "", removed},
		}},
	} {
		w := p.watch(t, tc.key, start, selecting(tc.label))
		var got []told
		for range tc.want {
			got = append(got, tell(t, next(t, w)))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	w := p.watch(t, prefix, left, selecting(""))
	for range 4 {
		next(t, w)
	}
	for i := range 3 {
		want := told{watch.Modified, "second", p.set(t, "second", strconv.Itoa(i)).ResourceVersion}
		if got := tell(t, next(t, w)); got != want {
			t.Errorf("received %v; want %v", got, want)
		}
	}
}

// TestWatchUnderWrites begins many watches at versions that the watch cache has long forgotten, while it forgets more.
func TestWatchUnderWrites(t *testing.T) {
	t.Parallel()
	const before, during = 200, 400
	path := file(t)
	p := open(t, path)
	start := p.set(t, "hot", "-1").ResourceVersion
	for i := range before {
		p.set(t, "hot", strconv.Itoa(i))
	}
	p.close()

	p = open(t, path)
	var watchers errgroup.Group
	for range 20 {
		w := p.watch(t, prefix, start, storage.Everything)
		watchers.Go(func() error {
			for i := range before + during {
				e, open, err := take(w)
				if err != nil {
					return fmt.Errorf("change %d: %w", i, err)
				}
				one, ok := plain(e).(*thing)
				if !open || !ok || one.Data[strconv.Itoa(i)] == "" {
					t.Errorf("change %d: received %v %v, and the watch goes on: %v", i, e.Type, e.Object, open)

					break
				}
			}

			return nil
		})
	}
	for i := range during {
		p.set(t, "hot", strconv.Itoa(before+i))
	}
	if err := watchers.Wait(); err != nil {
		t.Error(err)
	}
}

func TestWatchOfTheCompacted(t *testing.T) {
	t.Parallel()
	path := file(t)
	p := open(t, path)
	start := p.set(t, "a", "a").ResourceVersion
	for i := range 10 {
		p.set(t, "a", strconv.Itoa(i))
	}
	p.close()

	p = open(t, path, func(c *log.Config) { c.MinRevisions, c.MaxRevisions = 1, 5 })
	until(t, "the log is compacted", func() bool { return p.log.Compacted() > 5 })
	e := next(t, p.watch(t, prefix, start, storage.Everything))
	if status, ok := e.Object.(*metav1.Status); !ok || e.Type != watch.Error || status.Code != http.StatusGone {
		t.Errorf("received %v %v; want that the version is gone", e.Type, e.Object)
	}
	recent := strconv.FormatInt(p.log.Compacted(), 10)
	if e := next(t, p.watch(t, prefix, recent, storage.Everything)); e.Type != watch.Modified {
		t.Errorf("received %v %v; want a change after version %s, which is kept", e.Type, e.Object, recent)
	}
}

// TestWatchOfTheState begins watches that name no version while the cache is old.
func TestWatchOfTheState(t *testing.T) {
	t.Parallel()
	for name, initial := range map[string]*bool{"with the state": new(true), "at some state": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, file(t))
			p.list(t, storage.Everything)
			p.line.hold()
			want := told{watch.Added, "a", p.set(t, "a", "a").ResourceVersion}
			received := make(chan watch.Event, 1)
			go func() {
				defer close(received)
				o := storage.ListOptions{SendInitialEvents: initial, Predicate: selecting(""), Recursive: true}
				if initial != nil {
					o.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
				}
				w, err := p.Watch(t.Context(), prefix, o)
				if err != nil {
					t.Error(err)

					return
				}
				defer w.Stop()
				e, _, err := take(w)
				if err != nil {
					t.Error(err)
				}
				received <- e
			}()
			select {
			case early := <-received:
				t.Errorf("received %v before the cache knew anything", early)
			case <-time.After(100 * time.Millisecond):
				p.line.release()
				if got := tell(t, <-received); got != want {
					t.Errorf("received %v; want %v", got, want)
				}
			}
		})
	}
}
