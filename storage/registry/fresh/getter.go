// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/storage/kine/direct"
	"github.com/terrarium-garden/terrarium/storage/log"
)

// Logs are the logs behind the servers of a process, by the URL of the server. Servers of external datastores are not
// among them.
type Logs map[string]Source

// Source is a log, and the way to its server.
type Source struct {
	*log.Log

	// Client makes a client of the server, which its user closes. If it is nil, the API server connects as it does elsewhere.
	Client func() *direct.Client
}

// of returns the log behind a store; its Log is nil if there is none.
func (l Logs) of(c *storagebackend.ConfigForResource) Source {
	if len(c.Transport.ServerList) == 0 {
		return Source{}
	}

	return l[c.Transport.ServerList[0]]
}

// Getter wraps another getter: it adds the rule of this package to each storage with a watch cache that is kept in one of
// the logs. These caches remember no more changes than the logs keep in memory. Storages of the logs ask their servers by the clients
// of the sources.
func Getter(of generic.RESTOptionsGetter, logs Logs) generic.RESTOptionsGetter {
	if len(logs) == 0 {
		return of
	}

	return ruled(bounded{RESTOptionsGetter: of, logs: logs, stop: newStopper(clock.RealClock{})}, logs)
}

// ruled puts the rule in front of watch caches as they are.
func ruled(of generic.RESTOptionsGetter, logs Logs) generic.RESTOptionsGetter {
	return getter{RESTOptionsGetter: of, logs: logs, farthest: farthest, clock: clock.RealClock{}}
}

type getter struct {
	generic.RESTOptionsGetter

	logs Logs
	// farthest is the number of records that a watch with a selector goes over at most.
	farthest int
	// clock tells when watches get bookmarks that are not told of by the watch cache.
	clock clock.Clock
}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (g getter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	o, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return o, err
	}
	decorate := o.Decorator
	o.Decorator = func(
		config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error),
		one, many func() runtime.Object, attributes storage.AttrFunc, triggers storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		source := g.logs.of(config)
		if source.Log == nil {
			return decorate(config, prefix, key, one, many, attributes, triggers, indexers)
		}
		// The records are created before the cache, so that they begin before it and the cache never has to wait for them.
		about := newRecords(source.Log, config, prefix, one, many)
		inner, destroy, err := decorate(config, prefix, key, one, many, attributes, triggers, indexers)
		if err != nil {
			return nil, destroy, err
		}
		if _, cached := inner.(*cacher.CacheDelegator); !cached {
			return inner, destroy, nil
		}

		shared := newIndex(about, g.farthest)

		return &store{
			Interface: inner, records: about, reads: newReads(inner, about, attributes),
			index: shared, crowd: newCrowd(shared), clock: g.clock,
		}, destroy, nil
	}

	return o, nil
}
