// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"errors"
	"fmt"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/tools/cache"
)

// ErrNoSource says that objects of a kind can not be listed and watched.
var ErrNoSource = errors.New("the storage can not be listed and watched")

// FromStorage lists and watches what an API server serves, within the process: objects are shared with the server's own
// cache, and nothing is sent or decoded.
func FromStorage(storage rest.Storage) (*cache.ListWatch, error) {
	lister, lists := storage.(rest.Lister)
	watcher, watches := storage.(rest.Watcher)
	if !lists || !watches {
		return nil, fmt.Errorf("%T: %w", storage, ErrNoSource)
	}

	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return lister.List(ctx, internal(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return watcher.Watch(ctx, internal(o))
		},
	}, nil
}

// internal takes over what a reflector sets; it never selects.
func internal(o metav1.ListOptions) *metainternalversion.ListOptions {
	return &metainternalversion.ListOptions{
		Watch: o.Watch, AllowWatchBookmarks: o.AllowWatchBookmarks, ResourceVersion: o.ResourceVersion,
		ResourceVersionMatch: o.ResourceVersionMatch, TimeoutSeconds: o.TimeoutSeconds, Limit: o.Limit, Continue: o.Continue,
		SendInitialEvents: o.SendInitialEvents,
	}
}
