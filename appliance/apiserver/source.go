// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/appliance/authorization/feed"
)

// sources has the stores of the garden's kinds by the Go type of their objects.
type sources map[reflect.Type]rest.Storage

func newSources(groups []*genericapiserver.APIGroupInfo) sources {
	all := sources{}
	for _, group := range groups {
		for _, storages := range group.VersionedResourcesStorageMap {
			for resource, storage := range storages {
				if !strings.Contains(resource, "/") {
					all[reflect.TypeOf(storage.New())] = storage
				}
			}
		}
	}

	return all
}

// Source returns a source that lists and watches all objects of a kind within the process: nothing is sent, encoded or
// authorized. It is nil for a kind that is not one of the garden's. Objects may share data with others and must not be
// changed.
func (s *Server) Source(kind runtime.Object) cache.ListerWatcher {
	storage, ok := s.sources[reflect.TypeOf(kind)]
	if !ok {
		return nil
	}
	shared, err := feed.FromStorage(storage)
	if err != nil {
		return nil
	}

	return localSource{&cache.ListWatch{
		ListWithContextFunc: shared.ListWithContextFunc,
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			events, err := shared.WatchFuncWithContext(ctx, o)
			if err != nil {
				return nil, err
			}

			return watch.Filter(events, unwrap), nil
		},
	}}
}

// localSource is read by a list followed by a watch, which is cheaper than a watch that begins with all objects.
type localSource struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported tells reflectors that lists by watch are not supported.
func (localSource) IsWatchListSemanticsUnSupported() bool { return true }

// unwrap copies an object that is shared by all its watches.
func unwrap(event watch.Event) (watch.Event, bool) {
	if shared, ok := event.Object.(runtime.CacheableObject); ok {
		event.Object = shared.GetObject()
	}

	return event, true
}
