// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	readyPause    = 5 * time.Millisecond
	readyPatience = 30 * time.Second
)

// ErrNoSource says that objects of a kind cannot be listed and watched.
var ErrNoSource = errors.New("the storage cannot be listed and watched")

// FromStorage lists and watches the storage of an API server within the process: objects are shared with the server's own
// cache, and nothing is sent or decoded.
func FromStorage(storage rest.Storage) (*cache.ListWatch, error) {
	lister, lists := storage.(rest.Lister)
	watcher, watches := storage.(rest.Watcher)
	if !lists || !watches {
		return nil, fmt.Errorf("%T: %w", storage, ErrNoSource)
	}

	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if err := await(ctx, storage); err != nil {
				return nil, err
			}

			return lister.List(ctx, internal(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			events, err := watcher.Watch(ctx, internal(o))
			getter, gets := storage.(rest.Getter)
			if err != nil || !gets {
				return events, err //nolint:wrapcheck // The reflector says what it wanted.
			}

			return watch.Filter(events, func(event watch.Event) (watch.Event, bool) {
				event.Object = cached(ctx, getter, event)

				return event, true
			}), nil
		},
	}, nil
}

// cached returns the object of an event as the server's cache has it. What a watch delivers is a copy for this watch, or is copied when
// its content is asked for: each watch of a kind would hold all of its objects once more.
func cached(ctx context.Context, getter rest.Getter, event watch.Event) runtime.Object {
	if event.Type != watch.Added && event.Type != watch.Modified {
		return event.Object
	}
	about, err := meta.Accessor(event.Object)
	if err != nil {
		return event.Object
	}
	ctx = request.WithNamespace(ctx, about.GetNamespace())
	found, err := getter.Get(ctx, about.GetName(), &metav1.GetOptions{ResourceVersion: "0"})
	if err != nil {
		return event.Object
	}
	// The cache may be ahead of the watch already.
	if now, err := meta.Accessor(found); err != nil || now.GetResourceVersion() != about.GetResourceVersion() || now.GetUID() != about.GetUID() {
		return event.Object
	}

	return found
}

// await waits until the server's cache has been filled. A reflector that started earlier would fail and back off for too long.
func await(ctx context.Context, storage rest.Storage) error {
	checked, ok := storage.(rest.StorageWithReadiness)
	if !ok {
		return nil
	}
	var last error
	err := wait.PollUntilContextTimeout(ctx, readyPause, readyPatience, true, func(context.Context) (bool, error) {
		last = checked.ReadinessCheck()

		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the storage: %w", errors.Join(err, last))
	}

	return nil
}

// internal converts the options that a reflector sets; it never sets selectors.
func internal(o metav1.ListOptions) *metainternalversion.ListOptions {
	return &metainternalversion.ListOptions{
		Watch: o.Watch, AllowWatchBookmarks: o.AllowWatchBookmarks, ResourceVersion: o.ResourceVersion,
		ResourceVersionMatch: o.ResourceVersionMatch, TimeoutSeconds: o.TimeoutSeconds, Limit: o.Limit, Continue: o.Continue,
		SendInitialEvents: o.SendInitialEvents,
	}
}
