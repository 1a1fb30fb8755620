// SPDX-License-Identifier: Apache-2.0

package fresh_test

import (
	"net/http"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// untaken is more than all buffers of a watch have, so that the watch cache ends a watch that takes none of it.
const untaken = 300

// TestSlowWatchGoesOn has clients take nothing for so long that the watch cache ends their watches, twice.
func TestSlowWatchGoesOn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		key     string
		options storage.ListOptions
	}{
		"everything":     {key: prefix, options: storage.ListOptions{Predicate: selecting("")}},
		"no bookmarks":   {key: prefix, options: storage.ListOptions{Predicate: storage.Everything}},
		"one":            {key: prefix + "/a", options: storage.ListOptions{Predicate: selecting("")}},
		"with the state": {key: prefix, options: withState(selecting(""))},
		"not in a crowd": {key: prefix, options: storage.ListOptions{Predicate: lacking("other")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, file(t))
			start := p.set(t, "a", "first").ResourceVersion
			o := tc.options
			o.Recursive = tc.key == prefix
			if o.SendInitialEvents == nil {
				o.ResourceVersion = start
			}
			w, err := p.Watch(t.Context(), tc.key, o)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			if o.SendInitialEvents != nil {
				skipState(t, w)
			}
			for range 2 {
				var versions []string
				for i := range untaken {
					versions = append(versions, p.set(t, "a", strconv.Itoa(i)).ResourceVersion)
				}
				for _, version := range versions {
					if got, want := change(t, w), (told{watch.Modified, "a", version}); got != want {
						t.Fatalf("received %v; want %v", got, want)
					}
				}
			}
			gone := p.remove(t, "a").ResourceVersion
			if got, want := change(t, w), (told{watch.Deleted, "a", gone}); got != want {
				t.Errorf("received %v; want %v", got, want)
			}
		})
	}
}

// TestUnknownPlaceEnds has a client take nothing of the state with which its watch begins. What it has been told of when the watch cache
// ends the watch says nothing of what it lacks, so it has to begin again. The cache may also have told all of the state before.
func TestUnknownPlaceEnds(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	for i := range untaken {
		p.set(t, strconv.Itoa(i), "first")
	}
	w, err := p.Watch(t.Context(), prefix, withState(selecting("")))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for i := range untaken {
		p.set(t, strconv.Itoa(i), "second")
	}
	objects := map[string]bool{}
	for {
		e, open, err := take(w)
		switch {
		case err != nil:
			t.Fatal(err)
		case !open:
			return
		case e.Type == watch.Bookmark && len(objects) == untaken:
			return
		case e.Type != watch.Added:
			t.Fatalf("received %v after %d objects; want that the watch ends, or all of them", e, len(objects))
		}
		objects[tell(t, e).Name] = true
	}
}

// TestSlowWatchOfTheCompacted has a client take nothing for so long that the log no longer has what comes next for it.
func TestSlowWatchOfTheCompacted(t *testing.T) {
	t.Parallel()
	p := open(t, file(t), func(c *log.Config) { c.MinRevisions, c.MaxRevisions = 1, 5 })
	start := p.set(t, "a", "first").ResourceVersion
	w := p.watch(t, prefix, start, selecting(""))
	for i := range untaken {
		p.set(t, "a", strconv.Itoa(i))
	}
	until(t, "the log is compacted", func() bool { return p.log.Compacted() > untaken/2 })
	for n := 0; ; n++ {
		e := next(t, w)
		if status, ok := e.Object.(*metav1.Status); ok {
			if e.Type != watch.Error || status.Code != http.StatusGone {
				t.Errorf("received %v %v; want that the version is gone", e.Type, e.Object)
			}

			return
		}
		if got := tell(t, e).Type; got != watch.Modified || n == untaken {
			t.Fatalf("received %v; want changes, and then that the version is gone", e)
		}
	}
}

// withState lets a watch begin with the state.
func withState(predicate storage.SelectionPredicate) storage.ListOptions {
	return storage.ListOptions{
		SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, Predicate: predicate, Recursive: true,
	}
}

// lacking selects things without a label, which no single value finds.
func lacking(label string) storage.SelectionPredicate {
	all := selecting(label)
	none, err := labels.Parse("!" + label)
	if err != nil {
		panic(err)
	}
	all.Label = none

	return all
}

// skipState takes all of the state with which a watch begins.
func skipState(t *testing.T, w watch.Interface) {
	t.Helper()
	for e := next(t, w); e.Type != watch.Bookmark; e = next(t, w) {
		tell(t, e)
	}
}

// TestWatchEndsWithItsKind ends a storage, as it ends when a custom resource is no longer defined. One of the clients has taken nothing for
// so long that the watch cache has ended its watch: it is not told of what the log has, which may be of another version of the kind.
func TestWatchEndsWithItsKind(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	start := p.set(t, "a", "first").ResourceVersion
	w, slow := p.watch(t, prefix, start, selecting("")), p.watch(t, prefix, start, selecting(""))
	for i := range untaken {
		p.set(t, "a", strconv.Itoa(i))
		change(t, w)
	}
	p.destroy()
	ends(t, w, 0)
	ends(t, slow, untaken/2)
}

// ends checks that a watch ends after some changes at most.
func ends(t *testing.T, w watch.Interface, most int) {
	t.Helper()
	for changes := 0; ; {
		e, open, err := take(w)
		if err != nil {
			t.Fatal(err)
		}
		if !open {
			return
		}
		if e.Type != watch.Bookmark {
			changes++
		}
		if changes > most {
			t.Fatalf("received %v, change %d; want that the watch ends", e, changes)
		}
	}
}
