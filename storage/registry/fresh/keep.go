// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// kept returns a watch of the cache that goes on with the log whenever the cache has ended it. A watch cache ends a watch that does not
// take its events: about twenty may wait for it, and all slow watches of a kind together are waited for at most a tenth of a second.
// What comes next is read from the log, and the cache takes over when there is nothing left there: as long as a watch is slow, no other
// one has to wait for it. first is what was already taken from the watch, nil if that is nothing. The watch is stopped here.
func (s *store) kept(
	ctx context.Context, key string, o storage.ListOptions, changes watch.Interface, first *watch.Event,
) (watch.Interface, error) {
	keys, err := s.records.keys(key, o.Recursive)
	if err != nil {
		changes.Stop()

		return nil, err
	}
	size := relayed
	if o.Recursive && o.Predicate.Empty() {
		size = relayedOfKind
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &replay{relay: newRelay(cancel, size), store: s, key: key, options: o, keys: keys}
	go func() {
		defer r.end()
		r.keep(ctx, changes, first, newPosition(&o))
	}()

	return r, nil
}

// keep passes on what the cache tells, for as long as the client wants and the log has what comes next.
func (r *replay) keep(ctx context.Context, changes watch.Interface, first *watch.Event, at *position) {
	for r.follow(ctx, changes, first, at) && r.continuable(at) {
		next, err := r.store.past(r.keys, at.revision, r.options)
		if r.refuse(ctx, err); err != nil {
			return // The client goes on from the last event that it has seen.
		}
		r.next = next
		if changes, first, at.revision = r.resume(ctx); changes == nil {
			return
		}
	}
}

// continuable reports whether a watch that the cache has ended may go on from a position. A cache that has ended itself may be that of a
// kind that is no longer served, or is served in another version. A version that does not exist yet says nothing of what comes next.
func (r *replay) continuable(at *position) bool {
	return at.known() && at.revision <= r.store.records.source.Revision() && r.store.ReadinessCheck() == nil
}

// follow passes on the events of a watch of the cache until that ends. It reports whether it was the cache that has ended it.
func (r *replay) follow(ctx context.Context, changes watch.Interface, first *watch.Event, at *position) bool {
	defer changes.Stop()
	if first != nil && !r.pass(ctx, *first, at) {
		return false
	}
	for {
		select {
		case e, open := <-changes.ResultChan():
			if !open {
				return ctx.Err() == nil
			}
			if !r.pass(ctx, e, at) {
				return false
			}
		case <-ctx.Done():
			return false
		}
	}
}

// pass passes on an event. It reports whether others may follow.
func (r *replay) pass(ctx context.Context, e watch.Event, at *position) bool {
	if e.Type == watch.Error {
		r.send(ctx, e)

		return false
	}
	at.move(&e)

	return r.send(ctx, e)
}

// position is how far a watch has come.
type position struct {
	// revision is that of the last event.
	revision int64
	// state says that the events are still those of the state with which the watch begins: they are not in the order of their
	// revisions, so none of them says what comes next.
	state bool
}

// newPosition returns where a watch of the cache begins.
func newPosition(o *storage.ListOptions) *position {
	from, err := strconv.ParseInt(o.ResourceVersion, 10, 64)
	if err != nil || from == 0 || o.SendInitialEvents != nil && *o.SendInitialEvents {
		return &position{state: true}
	}

	return &position{revision: from}
}

func (p *position) known() bool { return !p.state && p.revision > 0 }

// move tells of an event. Only a bookmark says that a state is complete: a watch cache sends none before.
func (p *position) move(e *watch.Event) {
	about, err := meta.Accessor(e.Object)
	if err != nil {
		p.state = true

		return
	}
	revision, err := strconv.ParseInt(about.GetResourceVersion(), 10, 64)
	if err != nil {
		return
	}
	if e.Type == watch.Bookmark {
		p.state = false
	}
	p.revision = max(p.revision, revision)
}
