// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// reads asks the store for lists that the watch cache cannot answer in time. When a thousand gardenlets start together, hundreds of
// lists may find it behind. If each of them decoded all objects of the kind, there would be less time for the watch cache, and it
// would fall behind further. So lists of the same keys share a read, whatever they select, and at most one such read runs at a time.
type reads struct {
	store      storage.Interface
	newList    func() runtime.Object
	attributes storage.AttrFunc
	// published returns the version up to which everything can be read.
	published func() uint64

	mutex sync.Mutex
	of    map[string]*queue
}

// queue has the reads of the lists of some keys. The mutex of the reads guards it.
type queue struct{ running, waiting *read }

// read reads all objects below a key.
type read struct {
	// since is the version that was published when it began, and users the number of lists that it is for. The mutex of the reads
	// guards them.
	since uint64
	users int
	// stop ends it, once it has begun.
	stop context.CancelFunc

	// ended is closed when what follows is set.
	ended chan struct{}
	err   error
	// items is the slice of the objects, which the lists share.
	items   reflect.Value
	version uint64
	// traits are those of the objects, found when the first list asks for them.
	traits func() []*traits
}

func newReads(store storage.Interface, r *records, attributes storage.AttrFunc) *reads {
	published := func() uint64 { return version(r.source.Revision()) }

	return &reads{store: store, newList: r.newList, attributes: attributes, published: published, of: map[string]*queue{}}
}

// list fills a list with what a predicate selects below a key, in a state in which no object is older than in that of a version.
func (r *reads) list(ctx context.Context, key string, since uint64, p *storage.SelectionPredicate, out runtime.Object) error {
	shared := r.join(ctx, key, since)
	defer r.leave(key, shared)
	select {
	case <-shared.ended:
	case <-ctx.Done():
		return storage.NewTimeoutError(key, "the watch cache was behind, and the request ended before the store was read")
	}
	if shared.err != nil {
		return shared.err
	}

	return shared.fill(p, out, r.store.Versioner())
}

// join returns a read that shows the state of a version or a later one. Each is for those that came before it began, and for those to
// whom it is new enough all the same.
func (r *reads) join(ctx context.Context, key string, since uint64) *read {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	q := r.of[key]
	if q == nil {
		q = &queue{}
		r.of[key] = q
	}
	if one := q.running; one != nil && one.users > 0 && one.since >= since {
		one.users++

		return one
	}
	if q.waiting == nil {
		q.waiting = &read{ended: make(chan struct{})}
	}
	one := q.waiting
	one.users++
	if q.running == nil {
		r.begin(ctx, key, q)
	}

	return one
}

// leave ends a read that is for nobody any more.
func (r *reads) leave(key string, one *read) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if one.users--; one.users > 0 {
		return
	}
	if one.stop != nil {
		one.stop()
	} else if q := r.of[key]; q != nil && q.waiting == one {
		q.waiting = nil
	}
}

// begin begins the read that waits, if there is one. It is called with the mutex held.
func (r *reads) begin(ctx context.Context, key string, q *queue) {
	if q.running, q.waiting = q.waiting, nil; q.running == nil {
		delete(r.of, key)

		return
	}
	one := q.running
	one.since = r.published()
	// It is not only for the list that came first.
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	one.stop = stop
	go func() {
		defer stop()
		one.run(reading, key, r)
		close(one.ended)
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.begin(ctx, key, q)
	}()
}

// run reads. The library waits for the watch cache once more before it asks the store.
func (o *read) run(ctx context.Context, key string, r *reads) {
	list := r.newList()
	if o.err = r.store.GetList(ctx, key, storage.ListOptions{Predicate: storage.Everything, Recursive: true}, list); o.err != nil {
		return
	}
	if o.items, o.err = items(list); o.err != nil {
		return
	}
	about, err := meta.ListAccessor(list)
	if err != nil {
		o.err = fmt.Errorf("read version of list: %w", err)

		return
	}
	if o.version, err = r.store.Versioner().ParseResourceVersion(about.GetResourceVersion()); err != nil {
		o.err = fmt.Errorf("read version of list: %w", err)
	}
	o.traits = sync.OnceValue(func() []*traits { return traitsOfAll(o.items, r.attributes) })
}

// fill puts what a predicate selects into a list. The objects share their contents, as those of lists of a watch cache do.
func (o *read) fill(p *storage.SelectionPredicate, out runtime.Object, v storage.Versioner) error {
	into, err := items(out)
	if err != nil {
		return err
	}
	chosen := o.items
	if !p.Empty() {
		chosen = reflect.MakeSlice(o.items.Type(), 0, 0)
		for n, one := range o.traits() {
			if one.match(p) {
				chosen = reflect.Append(chosen, o.items.Index(n))
			}
		}
	}
	into.Set(reflect.MakeSlice(into.Type(), chosen.Len(), chosen.Len()))
	reflect.Copy(into, chosen)

	return v.UpdateList(out, o.version, "", nil) //nolint:wrapcheck // It says what it is about.
}

// items returns the slice of a list.
func items(list runtime.Object) (reflect.Value, error) {
	pointer, err := meta.GetItemsPtr(list)
	if err != nil {
		return reflect.Value{}, fmt.Errorf("find objects of list: %w", err)
	}
	slice, err := conversion.EnforcePtr(pointer)
	if err != nil {
		return reflect.Value{}, fmt.Errorf("find objects of list: %w", err)
	}

	return slice, nil
}

// traitsOfAll returns the traits of objects, nil for those of which they cannot be found out: these are not selected.
func traitsOfAll(objects reflect.Value, attributes storage.AttrFunc) []*traits {
	all := make([]*traits, objects.Len())
	for n := range all {
		object, ok := reflect.TypeAssert[runtime.Object](objects.Index(n).Addr())
		if !ok {
			continue
		}
		if found, err := traitsOf(object, attributes); err == nil {
			all[n] = found
		}
	}

	return all
}

// atOnce is the number of lists of a kind that read the store at the same time.
const atOnce = 2

// turns is a store that few lists read at the same time: pages, old versions, lists of single namespaces. What they read is decoded, and
// all of it is in memory until a list is complete.
type turns struct {
	storage.Interface

	taken chan struct{}
}

func inTurns(store storage.Interface) turns {
	return turns{Interface: store, taken: make(chan struct{}, atOnce)}
}

// GetList implements storage.Interface.
func (t turns) GetList(ctx context.Context, key string, o storage.ListOptions, out runtime.Object) error {
	if !o.Recursive {
		return t.Interface.GetList(ctx, key, o, out) //nolint:wrapcheck // The caller is the library.
	}
	select {
	case t.taken <- struct{}{}:
		defer func() { <-t.taken }()
	case <-ctx.Done():
		return storage.NewTimeoutError(key, "too many lists read the store")
	}

	return t.Interface.GetList(ctx, key, o, out) //nolint:wrapcheck // The caller is the library.
}
