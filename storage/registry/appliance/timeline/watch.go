// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"
	"errors"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

const (
	// watchPage is the number of entries that a watch reads at a time, and watchWeight about how much memory they take.
	watchPage   = 500
	watchWeight = 1 << 20
	// bookmarkInterval is the time between two bookmarks.
	bookmarkInterval = time.Minute
)

// Watch sends entries as they are added. A watch without a version, or from version 0, begins with all entries that exist.
func (e *Entries) Watch(ctx context.Context, o *metainternalversion.ListOptions) (watch.Interface, error) {
	if o == nil {
		o = &metainternalversion.ListOptions{}
	}
	q, err := e.query(ctx, o)
	if err != nil {
		return nil, err
	}
	w := &watcher{
		store: e.settings.Store, query: q, events: make(chan watch.Event), bookmarks: o.AllowWatchBookmarks,
		initial: o.SendInitialEvents != nil && *o.SendInitialEvents,
	}
	w.query.Limit, w.query.MostWeight = watchPage, watchWeight
	if e.ofSeed(ctx) {
		w.may = func(ctx context.Context) error {
			_, err := e.query(ctx, o)

			return err
		}
	}
	w.proxy = watch.NewProxyWatcher(w.events)
	if o.ResourceVersion != "" && !w.initial {
		if w.query.After, err = strconv.ParseUint(o.ResourceVersion, 10, 64); err != nil {
			return nil, apierrors.NewBadRequest("resourceVersion: not a number")
		}
	}
	if err := w.reaches(); err != nil {
		return nil, err
	}
	go w.run(ctx)

	return w.proxy, nil
}

// watcher reads the store after each write: so a slow client costs no memory, however much it is behind.
type watcher struct {
	store  *timeline.Store
	query  timeline.Query
	events chan watch.Event
	proxy  *watch.ProxyWatcher
	// may returns an error if the client may not read any more, and nil if it may. It is asked before each page for clients of seeds: an object
	// that moves to another seed is not theirs from then on.
	may func(context.Context) error
	// state is the number of the newest entry when a watch without a version began. What was removed before is not missed.
	state uint64
	// bookmarks says that the client takes bookmarks; initial says that it waits for one after the entries that exist.
	bookmarks, initial bool
}

func (w *watcher) run(ctx context.Context) {
	defer close(w.events)
	tick := time.NewTicker(bookmarkInterval)
	defer tick.Stop()
	for {
		changed := w.store.Changed()
		more, ok := w.sendPage(ctx)
		if !ok {
			return
		}
		if more {
			continue
		}
		if w.initial && !w.bookmark(ctx) {
			return
		}
		select {
		case <-changed:
		case <-tick.C:
			if !w.bookmark(ctx) {
				return
			}
		case <-w.proxy.StopChan():
			return
		case <-ctx.Done():
			return
		}
	}
}

// sendPage sends the next entries. It returns whether there are more, and false if the watch is over.
func (w *watcher) sendPage(ctx context.Context) (more, ok bool) {
	page, err := w.page(ctx)
	if err != nil {
		status := apierrors.APIStatus(nil)
		if !errors.As(err, &status) {
			status = apierrors.NewInternalError(err)
		}
		reply := status.Status()
		w.send(ctx, watch.Event{Type: watch.Error, Object: &reply})

		return false, false
	}
	for _, entry := range page.Entries {
		if !w.send(ctx, watch.Event{Type: watch.Added, Object: entry}) {
			return false, false
		}
	}
	if page.More {
		w.query.After, err = timeline.Number(page.Entries[len(page.Entries)-1].Name)

		return true, err == nil
	}
	w.query.After = page.Last

	return false, true
}

// page reads the next entries.
func (w *watcher) page(ctx context.Context) (timeline.Page, error) {
	page, err := w.store.List(ctx, w.query)
	if w.query.After == 0 {
		w.state = page.Last
	}
	if err == nil {
		err = w.reaches()
	}
	if err == nil && w.may != nil && len(page.Entries) > 0 {
		err = w.may(ctx)
	}

	return page, err
}

// reaches returns the error that makes clients list again if the watch has missed entries.
func (w *watcher) reaches() error {
	from := max(w.query.After, w.state)
	if from == 0 {
		return nil
	}
	err := w.store.Reaches(from)
	if errors.Is(err, timeline.ErrExpired) {
		return apierrors.NewResourceExpired(err.Error())
	}
	if err != nil {
		return apierrors.NewInternalError(err)
	}

	return nil
}

func (w *watcher) bookmark(ctx context.Context) bool {
	if !w.bookmarks {
		return true
	}
	mark := &gardenappliancev1alpha1.TimelineEntry{}
	mark.ResourceVersion = strconv.FormatUint(w.query.After, 10)
	if w.initial {
		mark.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		w.initial = false
	}

	return w.send(ctx, watch.Event{Type: watch.Bookmark, Object: mark})
}

func (w *watcher) send(ctx context.Context, event watch.Event) bool {
	select {
	case w.events <- event:
		return true
	case <-w.proxy.StopChan():
	case <-ctx.Done():
	}

	return false
}
