// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
)

// watchSelected returns a watch that begins with the objects that a selector selects. A watch cache would prepare an event for each
// object of the kind, whatever is selected: with 10,000 shoots 1.5 MB for each of a thousand gardenlets that start together.
// A list contains what is selected only.
func (s *store) watchSelected(ctx context.Context, key string, o storage.ListOptions) watch.Interface {
	ctx, cancel := context.WithCancel(ctx)
	w := &selected{relay: newRelay(cancel, relayed), store: s, key: key, options: o}
	go w.run(ctx)

	return w
}

type selected struct {
	relay

	store   *store
	key     string
	options storage.ListOptions
}

func (w *selected) run(ctx context.Context) {
	defer w.end()
	state, version, err := w.state(ctx)
	if err != nil {
		w.send(ctx, refused(err))

		return
	}
	for n := range state {
		if !w.send(ctx, watch.Event{Type: watch.Added, Object: state[n]}) {
			return
		}
		state[n] = nil
	}
	if w.options.Predicate.AllowWatchBookmarks && !w.mark(ctx, version) {
		return
	}
	o := w.options
	o.ResourceVersion, o.ResourceVersionMatch, o.SendInitialEvents = version, "", nil
	changes, err := w.store.Watch(ctx, w.key, o)
	if err != nil {
		w.send(ctx, refused(err))

		return
	}
	defer changes.Stop()
	w.forward(ctx, changes)
}

// state returns what is selected and its version.
func (w *selected) state(ctx context.Context) (objects []runtime.Object, version string, err error) {
	list := w.store.records.newList()
	o := storage.ListOptions{ResourceVersion: w.options.ResourceVersion, Predicate: w.options.Predicate, Recursive: true}
	if o.ResourceVersion != "" {
		o.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	o.Predicate.AllowWatchBookmarks = false
	if err := w.store.GetList(ctx, w.key, o, list); err != nil {
		return nil, "", err
	}
	about, err := meta.ListAccessor(list)
	if err != nil {
		return nil, "", err
	}
	err = meta.EachListItem(list, func(object runtime.Object) error {
		objects = append(objects, object)

		return nil
	})

	return objects, about.GetResourceVersion(), err
}

// mark sends the bookmark that ends the state.
func (w *selected) mark(ctx context.Context, at string) bool {
	end := w.store.records.newFunc()
	about, err := meta.Accessor(end)
	if err != nil {
		return w.send(ctx, refused(err))
	}
	about.SetResourceVersion(at)
	about.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})

	return w.send(ctx, watch.Event{Type: watch.Bookmark, Object: end})
}

// refused returns the event that tells a client of an error.
func refused(err error) watch.Event {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()

	return watch.Event{Type: watch.Error, Object: &status}
}
