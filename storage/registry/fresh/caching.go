// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// bounded lends the storages of another getter, with clients of the logs, and with watch caches whose clocks are those of the logs.
type bounded struct {
	generic.RESTOptionsGetter

	logs Logs
	stop *stopper
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (b bounded) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	o, err := b.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return o, err
	}
	source := b.logs.of(o.StorageConfig)
	switch {
	case source.Log == nil:
	case reflect.ValueOf(o.Decorator).Pointer() == reflect.ValueOf(generic.UndecoratedStorage).Pointer():
		o.Decorator = uncached(source)
	default:
		o.Decorator = caching(source, newPace(source.HistoryBytes(), source.Written), b.stop)
	}

	return o, nil
}

// uncached opens stores without a watch cache.
func uncached(source Source) generic.StorageDecorator {
	return func(
		config *storagebackend.ConfigForResource, prefix string, _ func(runtime.Object) (string, error),
		one, many func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		return source.open(config, prefix, one, many)
	}
}

// caching makes watch caches as the API server does, with a clock.
func caching(source Source, c clock.WithTicker, end *stopper) generic.StorageDecorator {
	return func(
		config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error),
		one, many func() runtime.Object, attributes storage.AttrFunc, triggers storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		below, destroy, err := source.open(config, prefix, one, many)
		if err != nil {
			return nil, destroy, err
		}
		cached, err := cacher.NewCacherFromConfig(cacher.Config{
			Storage: below, Versioner: storage.APIObjectVersioner{}, GroupResource: config.GroupResource,
			EventsHistoryWindow: config.EventsHistoryWindow, ResourcePrefix: prefix, KeyFunc: key, GetAttrsFunc: attributes,
			IndexerFuncs: triggers, Indexers: indexers, NewFunc: one, NewListFunc: many, Codec: config.Codec, Clock: c,
		})
		if err != nil {
			destroy()

			return nil, func() {}, fmt.Errorf("make watch cache: %w", err)
		}
		delegator := cacher.NewCacheDelegator(cached, inTurns(below))

		return delegator, sync.OnceFunc(func() {
			delegator.Stop()
			end.stop(cached)
			destroy()
		}), nil
	}
}

const (
	// stopping is how long watch caches that do not stop are waited for, all together.
	stopping = 2 * time.Second
	// leastStopping is how long each of them is waited for: the others stop within it.
	leastStopping = 20 * time.Millisecond
)

// stopper ends the watch caches of a server, but does not wait for long. The library waits for the goroutine that takes changes from the store.
// If that waits for room in a queue whose reader has seen the end first, neither ends any more. There are many caches, and one is ended after the
// other, so the waits for those that are stuck must not add up.
type stopper struct {
	clock clock.Clock

	mutex sync.Mutex
	left  time.Duration
}

func newStopper(c clock.Clock) *stopper { return &stopper{clock: c, left: stopping} }

func (s *stopper) stop(c interface{ Stop() }) {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		c.Stop()
	}()
	s.mutex.Lock()
	patience := max(s.left, leastStopping)
	s.mutex.Unlock()
	limit := s.clock.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-stopped:
	case <-limit.C():
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.left -= patience
	}
}
