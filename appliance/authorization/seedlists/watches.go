// SPDX-License-Identifier: Apache-2.0

package seedlists

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/watch"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Belongs reports whether an object belongs to a seed.
type Belongs func(object graph.Vertex, seed string) bool

// keys are the resources with keys of shoots. A client of a seed watches one by its name, and the shoot of this name may be on another
// seed by the time that the object changes.
func keys() map[string]graph.Kind {
	return map[string]graph.Kind{"internalsecrets": graph.InternalSecret, "shootstates": graph.ShootState}
}

// guarded ends watches of clients of a seed.
type guarded struct {
	*kind.Store

	kind    graph.Kind
	belongs Belongs
}

var _ rest.Watcher = (*guarded)(nil)

// Watch implements rest.Watcher. The watch of a client of a seed ends, without an error, before it would deliver an object that does not
// belong to the seed any more: when the client asks again, it is refused.
func (g *guarded) Watch(ctx context.Context, o *metainternalversion.ListOptions) (watch.Interface, error) {
	events, err := g.Store.Watch(ctx, o)
	who, _ := genericapirequest.UserFrom(ctx)
	client, ok := seedclient.Of(who)
	if err != nil || !ok {
		return events, err
	}
	out := make(chan watch.Event)
	proxy := watch.NewProxyWatcher(out)
	go func() {
		defer close(out)
		defer events.Stop()
		g.pass(events, proxy.StopChan(), out, client.Seed)
	}()

	return proxy, nil
}

// pass delivers events until the watch is stopped, ends, or has an object that does not belong to the seed.
func (g *guarded) pass(events watch.Interface, stopped <-chan struct{}, out chan<- watch.Event, seed string) {
	for {
		select {
		case <-stopped:
			return
		case event, open := <-events.ResultChan():
			if !open || !g.may(event, seed) {
				return
			}
			select {
			case out <- event:
			case <-stopped:
				return
			}
		}
	}
}

func (g *guarded) may(event watch.Event, seed string) bool {
	if event.Type == watch.Bookmark || event.Type == watch.Error {
		return true
	}
	about, err := meta.Accessor(event.Object)

	return err == nil && g.belongs(graph.Vertex{Kind: g.kind, Namespace: about.GetNamespace(), Name: about.GetName()}, seed)
}
