// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"errors"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// replay is a watch that delivers the records of the log until the watch cache can take over, and again when the cache has ended it.
type replay struct {
	relay

	store   *store
	key     string
	options storage.ListOptions
	// keys are those of the watch, next is what finds the next records among them. It is nil until the log is needed.
	keys log.Range
	next source
}

// source finds records that may concern a watch.
type source interface {
	// Next returns the next records, and the revision up to which nothing is missing once they are delivered. None and no error
	// means that there are no more for now.
	Next(ctx context.Context) (records []*log.Record, upTo int64, err error)
	// Stop must be called once.
	Stop()
}

func (r *replay) run(ctx context.Context) {
	defer r.end()
	if changes, first, upTo := r.resume(ctx); changes != nil {
		r.keep(ctx, changes, first, &position{revision: upTo})
	}
}

// resume delivers what the log has until the cache can take over, and a bookmark, so that a client that comes back later needs no log.
func (r *replay) resume(ctx context.Context) (changes watch.Interface, first *watch.Event, upTo int64) {
	defer r.next.Stop()
	changes, first, upTo = r.reach(ctx)
	if changes != nil && !r.mark(ctx, upTo) {
		changes.Stop()

		return nil, nil, 0
	}

	return changes, first, upTo
}

// reach delivers records until the cache has the following ones, and opens a watch of the cache. If the cache is behind that
// revision, its watch begins with the events that it receives after it, so no event is missing and none is delivered twice.
func (r *replay) reach(ctx context.Context) (changes watch.Interface, first *watch.Event, upTo int64) {
	for {
		upTo, ok := r.past(ctx)
		if !ok {
			return nil, nil, 0
		}
		o := r.options
		o.ResourceVersion, o.ResourceVersionMatch, o.SendInitialEvents = strconv.FormatInt(upTo, 10), "", nil
		changes, first, err := r.store.open(ctx, r.key, o)
		if err != nil {
			// The client reconnects from the last event that it has seen.
			return nil, nil, 0
		}
		if first == nil || !tooOld(*first) {
			return changes, first, upTo
		}
		// The history of the cache has moved on in the meantime, so the log has newer records than those delivered.
		changes.Stop()
	}
}

// mark sends a bookmark if the client accepts bookmarks. It reports whether the watch goes on.
func (r *replay) mark(ctx context.Context, upTo int64) bool {
	if !r.options.Predicate.AllowWatchBookmarks {
		return true
	}
	mark := r.store.records.newFunc()
	if err := r.store.Versioner().UpdateObject(mark, version(upTo)); err != nil {
		return true // A later one may succeed.
	}

	return r.send(ctx, watch.Event{Type: watch.Bookmark, Object: mark})
}

// past delivers all existing records, and returns the revision up to which everything has been delivered. It is not ok if
// the watch cannot continue.
func (r *replay) past(ctx context.Context) (upTo int64, ok bool) {
	for {
		records, upTo, err := r.next.Next(ctx)
		r.refuse(ctx, err)
		if err != nil || len(records) == 0 {
			return upTo, err == nil
		}
		for _, one := range records {
			event, err := r.event(ctx, one)
			if err != nil {
				// The state can still be listed.
				r.send(ctx, expired("a change cannot be reported: "+err.Error()))

				return 0, false
			}
			if event != nil && !r.send(ctx, *event) {
				return 0, false
			}
		}
	}
}

// refuse sends the event that makes the client list again, if an error is of that sort.
func (r *replay) refuse(ctx context.Context, err error) {
	switch {
	case errors.Is(err, log.ErrCompacted):
		r.send(ctx, expired("the version was compacted while the watch went over it"))
	case errors.Is(err, errFar), errors.Is(err, errUnreadable):
		r.send(ctx, expired(err.Error()))
	}
}

// event returns the event of a record for a watch with a selector; nil if the selector matches neither the new nor the old
// object.
func (r *replay) event(ctx context.Context, of *log.Record) (*watch.Event, error) {
	now, before, err := r.store.records.objects(ctx, of)
	if err != nil {
		return nil, err
	}
	is, err := r.matches(now)
	if err != nil {
		return nil, err
	}
	was, err := r.matches(before)
	switch {
	case err != nil:
		return nil, err
	case is && was:
		return &watch.Event{Type: watch.Modified, Object: now}, nil
	case is:
		return &watch.Event{Type: watch.Added, Object: now}, nil
	case was:
		return &watch.Event{Type: watch.Deleted, Object: before}, nil
	default:
		return nil, nil //nolint:nilnil // No event is an answer.
	}
}

func (r *replay) matches(object runtime.Object) (bool, error) {
	if object == nil {
		return false, nil
	}

	return r.options.Predicate.Matches(object)
}
