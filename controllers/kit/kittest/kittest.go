// SPDX-License-Identifier: Apache-2.0

// Package kittest runs controllers with the watches that they have set up, on objects that come, change and go as a test says. Between
// the test and the controller is the cache of the product, so that no event is lost, also before a watch begins.
package kittest

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	cachetesting "k8s.io/client-go/tools/cache/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Source is where the objects of one kind come from.
type Source struct {
	*cachetesting.FakeControllerSource
}

// IsWatchListSemanticsUnSupported makes informers list before they watch. Its name is that of client-go.
func (Source) IsWatchListSemanticsUnSupported() bool { return true }

// Cluster is a cluster without an API: all that can be seen of it are watches.
type Cluster struct {
	// Manager runs the controllers that are added to it.
	Manager manager.Manager

	mu      sync.Mutex
	sources map[reflect.Type]Source
	watched []string
}

// NewCluster returns a cluster with the kinds of a scheme.
func NewCluster(t *testing.T, types *runtime.Scheme) *Cluster {
	t.Helper()
	c := &Cluster{sources: map[reflect.Type]Source{}}
	mgr, err := manager.New(&rest.Config{}, manager.Options{
		Scheme: types, Metrics: server.Options{BindAddress: "0"}, Cache: cache.Options{NewInformer: c.informer},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return testrestmapper.TestOnlyStaticRESTMapper(types), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Manager = mgr

	return c
}

// Of returns where the objects of a kind come from. They may be added before somebody watches them.
func (c *Cluster) Of(kind client.Object) Source {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.of(kind)
}

func (c *Cluster) of(kind runtime.Object) Source {
	key := reflect.TypeOf(kind)
	if _, ok := c.sources[key]; !ok {
		c.sources[key] = Source{cachetesting.NewFakeControllerSource()}
	}

	return c.sources[key]
}

// informer replaces what would list and watch through an API.
func (c *Cluster) informer(_ toolscache.ListerWatcher, kind runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watched = append(c.watched, reflect.TypeOf(kind).Elem().Name())

	return toolscache.NewSharedIndexInformer(c.of(kind), kind, resync, indexers)
}

// Watched returns the names of the kinds that are watched.
func (c *Cluster) Watched() []string {
	c.mu.Lock()
	defer c.mu.Unlock()

	return slices.Sorted(slices.Values(c.watched))
}

// Start runs the controllers. They stop when the returned function is called, or at the end of the test.
func (c *Cluster) Start(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Manager.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("manager: %v", err)
		}
	})
	t.Cleanup(stop)

	return stop
}
