// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// audit watches a kind from the beginning, to know what each object has held.
func (l *gardenLoad) audit(t *testing.T, s subject, group *sync.WaitGroup, stop <-chan struct{}) {
	t.Helper()
	client := l.connect(t, s)
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{what: "first watch of " + s.kind, after: version(list), match: s.of}
	group.Go(func() {
		if err := l.follow(t.Context(), t, s, w, watching{options: metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}, stop: stop}); err != nil {
			t.Errorf("%s: %v", w.what, err)
		}
		l.hand(w)
	})
}

// watch watches a kind in one of the ways there are, again and again, the last time until nothing is written any more.
func (l *gardenLoad) watch(t *testing.T, s subject, number int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		w := &watched{what: fmt.Sprintf("watch %d of %s", number, s.kind), match: s.of}
		how := watching{until: time.Now().Add(time.Duration(200+rand.IntN(1500)) * time.Millisecond)}
		if number > 0 {
			w.what += " by label"
			w.match = func(c change) bool { return s.of(c) && c.group == "1" }
			how.options.LabelSelector = groupKey + "=1"
		}
		if number == 2 || rand.IntN(2) == 0 {
			w.what += " with initial events"
			initial := true
			how.options.SendInitialEvents, how.options.AllowWatchBookmarks = &initial, true
			how.options.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
		} else {
			u := &gardener{gardenLoad: l, subject: s, client: l.connect(t, s), number: 100 + number}
			if err := u.list(ctx, ""); err != nil {
				t.Error(err)

				return
			}
			w.after = u.newest
			how.options.ResourceVersion = fmt.Sprint(w.after)
			how.options.AllowWatchBookmarks = true
		}
		if err := l.follow(ctx, t, s, w, how); err != nil {
			t.Errorf("%s: %v", w.what, err)

			return
		}
		l.hand(w)
		if w.whole {
			return
		}
	}
}

// watching says how to watch and for how long: until a time, or until all is there if it is zero.
type watching struct {
	options metav1.ListOptions
	until   time.Time
	stop    <-chan struct{}
	// initial is what the watch began with, until it has said that this was all.
	initial *answer
}

// follow takes what a watch brings until its time has come, or the last change has.
func (l *gardenLoad) follow(ctx context.Context, t *testing.T, s subject, w *watched, how watching) error {
	t.Helper()
	if how.options.SendInitialEvents != nil {
		how.initial = &answer{what: w.what, asked: l.now(), kind: listed, match: w.match, seen: map[string]int64{}}
	}
	client := l.connect(t, s)
	from, err := client.Watch(ctx, how.options)
	if err != nil {
		return err
	}
	defer from.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("it never got to revision %d: %d events", l.lastOf(s), len(w.events))
		case <-tick.C:
			if how.initial == nil && !how.until.IsZero() && l.lastOf(s) == 0 && time.Now().After(how.until) {
				return nil
			}
		case e, open := <-from.ResultChan():
			if !open {
				return errors.New("it ended")
			}
			if err := l.take(s, w, &how, e); err != nil {
				return err
			}
		}
		if l.complete(s, w) && how.initial == nil {
			w.whole = true

			return nil
		}
	}
}

// complete reports whether nothing is to come any more: the last object was there, or need not be.
func (l *gardenLoad) complete(s subject, w *watched) bool {
	last := l.lastOf(s)
	if last == 0 {
		return false
	}
	l.mutex.Lock()
	content := l.contents[last]
	l.mutex.Unlock()
	if w.after >= last || !w.match(content) {
		return true
	}

	return len(w.events) > 0 && w.events[len(w.events)-1].revision >= last
}

func (l *gardenLoad) take(s subject, w *watched, how *watching, e watch.Event) error {
	if e.Type == watch.Error {
		return apierrors.FromObject(e.Object)
	}
	o, ok := e.Object.(*unstructured.Unstructured)
	if !ok {
		return fmt.Errorf("it has brought a %T", e.Object)
	}
	now := l.now()
	if e.Type == watch.Bookmark {
		revision := version(o)
		if how.initial != nil && o.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			how.initial.revision, how.initial.had, w.after = revision, now, revision
			l.note(*how.initial)
			how.initial = nil
		} else {
			w.said = append(w.said, progress{events: len(w.events), revision: revision})
			l.note(answer{what: "bookmark of " + w.what, asked: now, had: now, kind: told, revision: revision})
		}

		return nil
	}
	if !strings.HasPrefix(o.GetName(), namePrefix) {
		return nil
	}
	c := change{key: s.key(o.GetName()), revision: version(o), deleted: e.Type == watch.Deleted}
	if !c.deleted {
		var err error
		if c, err = l.learn(s, o); err != nil {
			return err
		}
	}
	if how.initial != nil {
		how.initial.seen[c.key] = c.revision

		return nil
	}
	w.events = append(w.events, event{change: c, before: -1, kind: string(e.Type)})
	l.note(answer{what: w.what, asked: now, had: now, kind: told, revision: c.revision})

	return nil
}
