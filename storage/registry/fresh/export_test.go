// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/utils/clock"
)

// Ruled leaves the watch caches of a getter as they are.
var Ruled = ruled

// RuledWith is Ruled, with another clock for bookmarks, and no watch with a selector goes over more than so many records.
func RuledWith(c clock.Clock, most int) func(generic.RESTOptionsGetter, Logs) generic.RESTOptionsGetter {
	return func(of generic.RESTOptionsGetter, logs Logs) generic.RESTOptionsGetter {
		return getter{RESTOptionsGetter: of, logs: logs, farthest: most, clock: c}
	}
}

// Stop ends a watch cache.
func Stop(c interface{ Stop() }) { newStopper(clock.RealClock{}).stop(c) }

// ReadFrom has the lists of a storage that find the watch cache behind read another storage without one. Nobody lists yet.
func ReadFrom(s, below storage.Interface) { s.(*store).reads.store = below }

// ListBehind lists as if the watch cache were behind.
func ListBehind(ctx context.Context, s storage.Interface, key string, p storage.SelectionPredicate, out runtime.Object) error {
	in := s.(*store)
	published, newest := in.records.newest()
	if err := in.reads.list(ctx, key, min(published, newest), &p, out); err != nil {
		return err
	}

	return in.date(out, published)
}

// ErrFar says that there are too many changes to go over.
var ErrFar = errFar

// Use keeps the index of a storage until the returned function is called.
func Use(s storage.Interface) (done func()) { return s.(*store).index.use() }

// Selected returns the revisions after one of them of what a predicate selects, by the index of a storage.
func Selected(ctx context.Context, s storage.Interface, after int64, p *storage.SelectionPredicate) ([]int64, error) {
	x := s.(*store).index
	found, _, err := x.selected(ctx, children(x.records.key(x.records.resources)), after, p)

	return found, err
}

// Busy has the index of a storage read for somebody else until the returned function is called.
func Busy(s storage.Interface) (done func()) {
	x := s.(*store).index
	x.turn <- struct{}{}

	return func() { <-x.turn }
}

// Reach returns the revisions between which the index of a storage knows all records of its kind. Nobody asks it meanwhile.
func Reach(s storage.Interface) (from, upTo int64) {
	x := s.(*store).index

	return x.from, x.upTo
}

const (
	// Farthest is the bound of a server.
	Farthest = farthest
	// BeforeTheEnd is how long before its end a watch gets the last bookmark.
	BeforeTheEnd = beforeTheEnd
	// Patient is the number of records that a watch may leave untaken.
	Patient = patient
)
