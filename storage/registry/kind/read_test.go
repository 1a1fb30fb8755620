// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"context"
	goruntime "runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
	"github.com/terrarium-garden/terrarium/storage/registry/core/internalsecret"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

// cached is a storage with a watch cache that says how recent its reads have to be, and may lag behind.
type cached struct {
	storage.Interface

	mutex   sync.Mutex
	asked   []string
	lags    bool
	changes *watch.FakeWatcher
	// held are changes that are still on their way, while hold says so.
	hold bool
	held []watch.Event
}

func newCached() *cached { return &cached{changes: watch.NewFakeWithChanSize(100, false)} }

func (c *cached) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	err := c.Interface.Create(ctx, key, obj, out, ttl)
	if err == nil {
		c.tell(watch.Event{Type: watch.Added, Object: out.DeepCopyObject()})
	}
	return err
}

func (c *cached) tell(change watch.Event) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.hold {
		c.held = append(c.held, change)
		return
	}
	c.changes.Action(change.Type, change.Object)
}

// release lets what is held arrive.
func (c *cached) release() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, change := range c.held {
		c.changes.Action(change.Type, change.Object)
	}
	c.hold, c.held = false, nil
}

// forget returns what was asked for, and starts anew.
func (c *cached) forget() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

func (c *cached) Watch(context.Context, string, storage.ListOptions) (watch.Interface, error) {
	return c.changes, nil
}

func (c *cached) ask(version string) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.asked = append(c.asked, version)
	if c.lags && version != "" {
		return storage.NewTooLargeResourceVersionError(1000, 1, 1)
	}
	return nil
}

func (c *cached) Get(ctx context.Context, key string, o storage.GetOptions, out runtime.Object) error {
	if err := c.ask(o.ResourceVersion); err != nil {
		return err
	}
	return c.Interface.Get(ctx, key, o, out)
}

func (c *cached) GetList(ctx context.Context, key string, o storage.ListOptions, list runtime.Object) error {
	if err := c.ask(o.ResourceVersion); err != nil {
		return err
	}
	return c.Interface.GetList(ctx, key, o, list)
}

// caching puts such a storage in front of another.
type caching struct {
	generic.RESTOptionsGetter

	made *cached
}

func (c caching) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	o, err := c.RESTOptionsGetter.GetRESTOptions(resource, example)
	decorate := o.Decorator
	o.Decorator = func(
		config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error), one, many func() runtime.Object,
		attributes storage.AttrFunc, triggers storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		inner, destroy, err := decorate(config, prefix, key, one, many, attributes, triggers, indexers)
		c.made.Interface = inner
		return c.made, destroy, err
	}
	return o, err
}

func TestReadsAreRecent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason     string
		sole, lags bool
		// wants are the versions that a read of one of two written objects, of an unwritten one, and of all ask for.
		wants func(first, second string) []string
	}{
		"sole writer": {
			reason: "the cache is asked first; what it has is as recent as the last write", sole: true,
			wants: func(_, second string) []string { return []string{"0", "0", "0", second} },
		},
		"lagging": {
			reason: "what the cache does not hold in time is read from the store", sole: true, lags: true,
			wants: func(_, second string) []string { return []string{"0", "", "0", "", "0", "", second, ""} },
		},
		"others write": {
			reason: "only the store knows what others have written",
			wants:  func(string, string) []string { return []string{"", "", "", ""} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, namespace, "rose")
			front := newCached()
			front.lags = tc.lags
			s, err := internalsecret.Storage(kindtest.Options(t, func(o *kind.Options) {
				o.RESTOptionsGetter, o.SoleWriter = caching{RESTOptionsGetter: o.RESTOptionsGetter, made: front}, tc.sole
			}))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Destroy)
			secrets := kindtest.Of[*secret](t, map[string]rest.Storage{"internalsecrets": s}, "internalsecrets")
			made := func(name string) string {
				return secrets.MustCreate(ctx, &secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Type: "Opaque"}).ResourceVersion
			}
			first, second := made("first"), made("second")
			front.asked = nil
			for _, name := range []string{"first", "second", "third"} {
				if _, err := s.Get(ctx, name, &metav1.GetOptions{}); (err != nil) != (name == "third") {
					t.Errorf("%s\nGet(%q): %v", tc.reason, name, err)
				}
			}
			if got := names(t, s, ctx); len(got) != 2 {
				t.Errorf("%s\nList(): got %v", tc.reason, got)
			}
			if diff := cmp.Diff(tc.wants(first, second), front.asked); diff != "" {
				t.Errorf("%s\nversions asked for (-want +got):\n%s", tc.reason, diff)
			}
			if a, _ := strconv.Atoi(first); a < 2 {
				t.Errorf("the versions of the test tell nothing apart: %q, %q", first, second)
			}
		})
	}
}

func TestListKeepsTheQuestion(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, namespace, "rose")
	front := newCached()
	s, err := internalsecret.Storage(kindtest.Options(t, func(o *kind.Options) {
		o.RESTOptionsGetter, o.SoleWriter = caching{RESTOptionsGetter: o.RESTOptionsGetter, made: front}, true
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Destroy)
	for _, o := range []*metainternalversion.ListOptions{
		{ResourceVersion: "0"}, {ResourceVersion: "7"}, {ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchExact},
	} {
		before := o.DeepCopy()
		front.asked = nil
		if _, err := s.List(ctx, o); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{o.ResourceVersion}, front.asked); diff != "" || !cmp.Equal(before, o) {
			t.Errorf("who asks for a version gets that one (-want +got):\n%s", diff)
		}
	}
}

// TestListWaitsForTheLastChange has the cache say that it has come far enough, before the last change has arrived.
func TestListWaitsForTheLastChange(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		then   func(c *cached, clock *clocktesting.FakeClock)
		want   func(version string) []string
	}{
		"arrives": {
			reason: "the cache is asked once it has the change",
			then:   func(c *cached, _ *clocktesting.FakeClock) { c.release() },
			want:   func(version string) []string { return []string{version} },
		},
		"is lost": {
			reason: "nobody waits forever; the store knows",
			then:   func(_ *cached, clock *clocktesting.FakeClock) { clock.Step(time.Second) },
			want:   func(string) []string { return []string{""} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, namespace, "rose")
			front, clock := newCached(), clocktesting.NewFakeClock(kindtest.Now())
			s, err := internalsecret.Storage(kindtest.Options(t, func(o *kind.Options) {
				o.RESTOptionsGetter, o.SoleWriter, o.Clock = caching{RESTOptionsGetter: o.RESTOptionsGetter, made: front}, true, clock
			}))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Destroy)
			secrets := kindtest.Of[*secret](t, map[string]rest.Storage{"internalsecrets": s}, "internalsecrets")
			front.hold = true
			late := secrets.MustCreate(ctx, &secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "late"}, Type: "Opaque"})
			front.forget()
			listed := make(chan []string, 1)
			go func() { listed <- names(t, s, ctx) }()
			for !clock.HasWaiters() {
				goruntime.Gosched()
			}
			if asked := front.forget(); len(asked) != 0 {
				t.Errorf("The list waits.\nversions asked for: %q", asked)
			}
			tc.then(front, clock)
			if got := <-listed; len(got) != 1 {
				t.Errorf("%s\nList(): got %v", tc.reason, got)
			}
			if diff := cmp.Diff(tc.want(late.ResourceVersion), front.forget()); diff != "" {
				t.Errorf("%s\nversions asked for (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOnlyAnAnswerIsRemembered(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		request *genericapirequest.RequestInfo
		want    bool
	}{
		"get":         {"the client gets what is stored", &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "get", APIGroup: "core.gardener.cloud", Resource: "internalsecrets", Name: "a"}, true},
		"subresource": {"a part is another thing", &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "get", APIGroup: "core.gardener.cloud", Resource: "internalsecrets", Subresource: "status", Name: "a"}, false},
		"other name":  {"what is read for another answer", &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "get", APIGroup: "core.gardener.cloud", Resource: "internalsecrets", Name: "b"}, false},
		"update":      {"what is read to be changed", &genericapirequest.RequestInfo{IsResourceRequest: true, Verb: "update", APIGroup: "core.gardener.cloud", Resource: "internalsecrets", Name: "a"}, false},
		"no request":  {"what the server reads for itself", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, namespace, "rose")
			s, secrets := store(t)
			secrets.MustCreate(ctx, &secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}, Type: "Opaque"})
			if tc.request != nil {
				ctx = genericapirequest.WithRequestInfo(ctx, tc.request)
			}
			got, err := s.Get(ctx, "a", &metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, is := got.(bytecache.Object); is != tc.want {
				t.Errorf("%s: got %T", tc.reason, got)
			}
			table, err := s.ConvertToTable(ctx, got, nil)
			if err != nil || len(table.Rows) != 1 {
				t.Errorf("either can be printed: %v, %v", table, err)
			}
		})
	}
}
