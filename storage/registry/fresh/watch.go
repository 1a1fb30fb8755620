// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// Watch implements storage.Interface.
func (s *store) Watch(ctx context.Context, key string, o storage.ListOptions) (watch.Interface, error) {
	switch {
	case o.SendInitialEvents != nil && *o.SendInitialEvents && o.Recursive && !o.Predicate.Empty():
		return s.watchSelected(ctx, key, o), nil
	case o.ResourceVersion == "":
		return s.watchState(ctx, key, o)
	}
	if among, ok := s.crowded(ctx, key, o); ok {
		return among, nil
	}
	changes, first, err := s.open(ctx, key, o)
	if err != nil {
		return nil, err
	}
	if first != nil {
		if past, ok := s.bridge(ctx, key, o, *first); ok {
			changes.Stop()

			return past, nil
		}
	}

	return s.kept(ctx, key, o, changes, first)
}

// watchState starts a watch with or after the current state. The cache has to be as new as for a list that begins now.
func (s *store) watchState(ctx context.Context, key string, o storage.ListOptions) (watch.Interface, error) {
	_, since := s.records.newest()
	newest := notOlder(since)
	switch {
	case o.SendInitialEvents == nil:
		// Such a watch starts with the current state of the cache. A get of a missing object waits until the cache is new enough.
		wait := storage.GetOptions{ResourceVersion: newest, IgnoreNotFound: true}
		if err := s.Interface.Get(ctx, s.records.resources+"/", wait, s.records.newFunc()); err != nil {
			return nil, err
		}
	case *o.SendInitialEvents:
		o.ResourceVersion = newest
	}

	changes, err := s.Interface.Watch(unhurried{ctx}, key, o) //nolint:contextcheck // It is the same context, without its deadline.
	if err != nil {
		return nil, err
	}

	return s.kept(ctx, key, o, changes, nil)
}

// open opens a watch of the cache. It also returns its first event if that is available already, which is the case for a
// rejection.
func (s *store) open(ctx context.Context, key string, o storage.ListOptions) (watch.Interface, *watch.Event, error) {
	changes, err := s.Interface.Watch(unhurried{ctx}, key, o) //nolint:contextcheck // It is the same context, without its deadline.
	if err != nil {
		return nil, nil, err
	}
	select {
	case first, ok := <-changes.ResultChan():
		if ok {
			return changes, &first, nil
		}
	default:
	}

	return changes, nil, nil
}

// tooOld reports whether an event says that the requested version is too old.
func tooOld(e watch.Event) bool {
	status, ok := e.Object.(*metav1.Status)

	return ok && e.Type == watch.Error && status.Code == http.StatusGone && status.Reason == metav1.StatusReasonExpired
}

// bridge returns a watch that begins with the log, if the first event of the cache says that the version is too old and the log
// still has it.
func (s *store) bridge(ctx context.Context, key string, o storage.ListOptions, first watch.Event) (watch.Interface, bool) {
	from, err := strconv.ParseInt(o.ResourceVersion, 10, 64)
	if err != nil || from == 0 || o.SendInitialEvents != nil && *o.SendInitialEvents || !tooOld(first) {
		return nil, false
	}
	keys, err := s.records.keys(key, o.Recursive)
	if err != nil {
		return nil, false
	}
	next, err := s.past(keys, from, o)
	if err != nil {
		return nil, false
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &replay{relay: newRelay(cancel, relayed), store: s, key: key, options: o, keys: keys, next: next}
	go r.run(ctx)

	return r, true
}

// crowded returns a watch that the crowd tells of changes, if the predicate requires something by which it can be found.
func (s *store) crowded(ctx context.Context, key string, o storage.ListOptions) (watch.Interface, bool) {
	from, err := strconv.ParseInt(o.ResourceVersion, 10, 64)
	if err != nil || from == 0 || from > s.records.source.Revision() || !o.Recursive || o.SendInitialEvents != nil && *o.SendInitialEvents {
		return nil, false
	}
	requires, ok := required(&o.Predicate)
	if !ok {
		return nil, false
	}
	keys, err := s.records.keys(key, o.Recursive)
	if err != nil {
		return nil, false
	}
	mine := newMember(s.crowd, requires, keys, from, o.Predicate)
	ctx, cancel := context.WithCancel(ctx)
	r := &replay{relay: newRelay(cancel, relayed), store: s, key: key, options: o, keys: keys, next: mine}
	go r.stay(ctx, mine, from)

	return r, true
}

// past is the source of the records that a watch goes over. The watches of a whole kind that select share an index; all others read every
// record of their keys.
func (s *store) past(keys log.Range, from int64, o storage.ListOptions) (source, error) {
	if o.Recursive && !o.Predicate.Empty() {
		return newSelection(s.index, keys, from, o.Predicate), nil
	}
	// The follower needs no notification: it is polled for existing records.
	follower, err := s.records.source.Follow(keys, from, nil)
	if err != nil {
		return nil, fmt.Errorf("follow the log: %w", err)
	}

	return follower, nil
}

// relay is a watch that passes on events.
type relay struct {
	result chan watch.Event
	cancel context.CancelFunc
}

var _ watch.Interface = relay{}

func newRelay(cancel context.CancelFunc, size int) relay {
	return relay{result: make(chan watch.Event, size), cancel: cancel}
}

const (
	// relayed is the number of events that a relay buffers.
	relayed = 10
	// relayedOfKind is the number for a watch of a whole kind, which a burst of changes concerns as a whole. It takes 3 kB.
	relayedOfKind = 100
)

// Stop implements watch.Interface.
func (r relay) Stop() { r.cancel() }

// ResultChan implements watch.Interface.
func (r relay) ResultChan() <-chan watch.Event { return r.result }

func (r relay) end() {
	r.cancel()
	close(r.result)
}

// send reports whether the event was received before the watch was stopped.
func (r relay) send(ctx context.Context, e watch.Event) bool {
	select {
	case r.result <- e:
		return true
	case <-ctx.Done():
		return false
	}
}

func (r relay) forward(ctx context.Context, changes watch.Interface) {
	for {
		select {
		case e, ok := <-changes.ResultChan():
			if !ok || !r.send(ctx, e) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// expired returns the error event that makes a client list again.
func expired(reason string) watch.Event {
	status := apierrors.NewResourceExpired(reason).Status()

	return watch.Event{Type: watch.Error, Object: &status}
}
