// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"strconv"
	"sync"
	"time"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"
)

const (
	// patience is how long a list waits for the last change to arrive in the watch cache before it asks the store.
	patience = 250 * time.Millisecond
	// retry is the pause before a watch that was refused is tried again, as while the cache is being filled.
	retry = 100 * time.Millisecond
	// anyVersion is the version of whatever is at hand.
	anyVersion = "0"
)

// arrivals knows how far the watch cache has come, by the changes that it has delivered. They arrive in the order of
// their versions. The version that the cache gives itself proves less: the store may tell how far it has come before it
// has delivered the last change.
type arrivals struct {
	clock clock.Clock
	stop  context.CancelFunc
	ended chan struct{}

	mutex sync.Mutex
	seen  uint64
	// grown is closed when more has been seen; nil while nobody waits.
	grown chan struct{}
}

// source is what can be watched.
type source interface {
	Watch(ctx context.Context, o *metainternalversion.ListOptions) (watch.Interface, error)
}

// follow watches the changes of a kind until the arrivals are closed.
func follow(from source, c clock.Clock) *arrivals {
	ctx, stop := context.WithCancel(context.Background()) //nolint:forbidigo // it lives as long as the store, not as long as a request
	a := &arrivals{clock: c, stop: stop, ended: make(chan struct{}), seen: oldest}
	go func() {
		defer close(a.ended)
		a.run(ctx, from)
	}()

	return a
}

// close ends the watch.
func (a *arrivals) close() {
	a.stop()
	<-a.ended
}

func (a *arrivals) run(ctx context.Context, from source) {
	version := anyVersion
	for ctx.Err() == nil {
		changes, err := from.Watch(ctx, &metainternalversion.ListOptions{ResourceVersion: version})
		if err != nil {
			version = anyVersion
			a.pause(ctx)

			continue
		}
		version = a.drain(ctx, changes)
	}
}

func (a *arrivals) pause(ctx context.Context) {
	timer := a.clock.NewTimer(retry)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

// drain notes changes until there are no more, and returns the version to go on from.
func (a *arrivals) drain(ctx context.Context, changes watch.Interface) string {
	defer changes.Stop()
	version := anyVersion
	for {
		select {
		case <-ctx.Done():
			return version
		case change, open := <-changes.ResultChan():
			if !open {
				return version
			}
			if change.Type == watch.Error {
				return anyVersion
			}
			if change.Type == watch.Bookmark {
				continue
			}
			if seen, ok := versionOf(change.Object); ok {
				a.raise(seen)
				version = strconv.FormatUint(seen, 10)
			}
		}
	}
}

func versionOf(object runtime.Object) (uint64, bool) {
	version, err := storage.APIObjectVersioner{}.ObjectResourceVersion(object)

	return version, err == nil
}

func (a *arrivals) raise(version uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if version <= a.seen {
		return
	}
	a.seen = version
	if a.grown != nil {
		close(a.grown)
		a.grown = nil
	}
}

// await waits until every change up to a version has arrived. It tells whether they have in time.
func (a *arrivals) await(ctx context.Context, version uint64) bool {
	grown, there := a.has(version)
	if there {
		return true
	}
	timer := a.clock.NewTimer(patience)
	defer timer.Stop()
	for !there {
		select {
		case <-grown:
			grown, there = a.has(version)
		case <-timer.C():
			return false
		case <-ctx.Done():
			return false
		}
	}

	return true
}

// has tells whether a version was seen, and else returns what is closed when more is.
func (a *arrivals) has(version uint64) (grown <-chan struct{}, there bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.seen >= version {
		return nil, true
	}
	if a.grown == nil {
		a.grown = make(chan struct{})
	}

	return a.grown, false
}
