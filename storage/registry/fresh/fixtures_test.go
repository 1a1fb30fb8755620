// SPDX-License-Identifier: Apache-2.0

package fresh_test

import (
	"context"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/k3s-io/kine/pkg/server"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/storage/log"
	"github.com/terrarium-garden/terrarium/storage/log/etcdwatch"
	"github.com/terrarium-garden/terrarium/storage/registry/fresh"
)

const (
	// prefix is that of the kind of the tests, whose objects are called prefix + "/" + name.
	prefix = "/configmaps"
	// address is where the store is called.
	address = "http://objects"
)

type thing = corev1.ConfigMap

// place is a log that is served, with a storage for things in front of it.
type place struct {
	storage.Interface

	log *log.Log
	// line leads from the log to the watch cache.
	line *line
	// destroy ends the storage, and close the log as well.
	destroy, close func()
}

// open serves a log from a file.
func open(t *testing.T, file string, change ...func(*log.Config)) *place {
	t.Helper()

	return openWith(t, getter{}, file, change...)
}

func openWith(t *testing.T, g getter, file string, change ...func(*log.Config)) *place {
	t.Helper()
	settings := log.NewConfig(file)
	for _, c := range change {
		c(&settings)
	}
	source, err := log.Open(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	p := &place{log: source, line: &line{}}
	var served []grpc.ServerOption
	if g.own != nil {
		served = append(served, grpc.StreamInterceptor(p.line.stream))
	}
	listener, stop := serve(t, source, served...)
	g.listener, g.line = listener, p.line
	wrap := fresh.Ruled
	switch {
	case g.own != nil:
		wrap = fresh.Getter
	case g.farthest > 0:
		wrap = fresh.RuledWith(clock.RealClock{}, g.farthest)
	case g.clock != nil:
		wrap = fresh.RuledWith(g.clock, fresh.Farthest)
	}
	options, err := wrap(g, fresh.Logs{address: {Log: source}}).
		GetRESTOptions(schema.GroupResource{Resource: "configmaps"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var destroy func()
	p.Interface, destroy, err = options.Decorator(options.StorageConfig, prefix, keyOf, newThing, newThings, attributes, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.destroy = sync.OnceFunc(func() {
		p.line.release()
		destroy()
	})
	p.close = sync.OnceFunc(func() {
		p.destroy()
		stop()
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(p.close)
	until(t, "the cache is ready", func() bool { return p.ReadinessCheck() == nil })

	return p
}

func serve(t *testing.T, source *log.Log, o ...grpc.ServerOption) (*bufconn.Listener, func()) {
	t.Helper()
	backend := log.NewBackend(source)
	if err := backend.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(o...)
	bridge := server.New(backend, "http", time.Second, "3.6.11")
	etcdserverpb.RegisterKVServer(s, bridge)
	etcdserverpb.RegisterMaintenanceServer(s, bridge)
	etcdserverpb.RegisterLeaseServer(s, bridge)
	etcdserverpb.RegisterWatchServer(s, &etcdwatch.Server{
		Source: source, NotifyInterval: time.Second, Clock: clock.RealClock{}, Log: logr.Discard(),
	})
	listener := bufconn.Listen(1 << 16)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()

	return listener, func() {
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// getter makes storages with a watch cache, as the API server does, but for the line.
type getter struct {
	listener *bufconn.Listener
	line     *line
	// own is another decorator, and name that of the kind in its metrics.
	own  generic.StorageDecorator
	name string
	// farthest is how many records a watch with a selector goes over; 0 for as many as in a server.
	farthest int
	// clock tells when watches get bookmarks, if it is set.
	clock clock.Clock
	// decoded counts the objects that were decoded, if it is set.
	decoded *atomic.Int64
}

// counting is a codec that counts.
type counting struct {
	runtime.Codec

	decoded *atomic.Int64
}

func (c counting) Decode(data []byte, kind *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	c.decoded.Add(1)

	return c.Codec.Decode(data, kind, into)
}

func (g getter) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	kinds := runtime.NewScheme()
	if err := corev1.AddToScheme(kinds); err != nil {
		return generic.RESTOptions{}, err
	}
	codecs := serializer.NewCodecFactory(kinds)
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	codec := runtime.NewCodec(codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), codecs.UniversalDeserializer())
	if g.decoded != nil {
		codec = counting{codec, g.decoded}
	}
	config := storagebackend.NewDefaultConfig("/registry", codec)
	config.Transport.ServerList = []string{address}
	config.Transport.EgressLookup = func(egressselector.NetworkContext) (utilnet.DialFunc, error) {
		return func(ctx context.Context, _, _ string) (net.Conn, error) { return g.listener.DialContext(ctx) }, nil
	}
	config.CompactionInterval = 0

	decorate := g.decorate
	if g.own != nil {
		decorate = g.own
		resource.Resource = g.name
	}

	return generic.RESTOptions{StorageConfig: config.ForResource(resource), Decorator: decorate, ResourcePrefix: prefix}, nil
}

//nolint:revive // the parameters are those of generic.StorageDecorator
func (g getter) decorate(
	config *storagebackend.ConfigForResource, prefix string, key func(runtime.Object) (string, error),
	one, many func() runtime.Object, attributes storage.AttrFunc, triggers storage.IndexerFuncs, indexers *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	raw, destroy, err := generic.NewRawStorage(config, one, many, prefix)
	if err != nil {
		return nil, nil, err
	}
	slow := lined{Interface: raw, line: g.line}
	g.line.below = raw
	cached, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage: slow, Versioner: storage.APIObjectVersioner{}, GroupResource: config.GroupResource,
		EventsHistoryWindow: config.EventsHistoryWindow, ResourcePrefix: prefix, KeyFunc: key, GetAttrsFunc: attributes,
		IndexerFuncs: triggers, Indexers: indexers, NewFunc: one, NewListFunc: many, Codec: config.Codec,
	})
	if err != nil {
		return nil, nil, err
	}
	front := cacher.NewCacheDelegator(cached, slow)

	return front, func() {
		front.Stop()
		fresh.Stop(cached)
		destroy()
	}, nil
}

// line is what changes take to the watch cache. It can be held, and delayed.
type line struct {
	mutex sync.Mutex
	held  chan struct{}
	delay func(ctx context.Context)
	// below is the storage from which it leads.
	below storage.Interface
}

func (l *line) hold() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.held = make(chan struct{})
}

func (l *line) release() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.held != nil {
		close(l.held)
		l.held = nil
	}
}

func (l *line) pass(ctx context.Context) {
	l.mutex.Lock()
	held, delay := l.held, l.delay
	l.mutex.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
		}
	}
	if delay != nil {
		delay(ctx)
	}
}

// stream has all watches that a server serves go over the line.
func (l *line) stream(server any, s grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	return handle(server, linedStream{ServerStream: s, line: l})
}

type linedStream struct {
	grpc.ServerStream

	line *line
}

// SendMsg implements grpc.ServerStream.
func (s linedStream) SendMsg(m any) error {
	s.line.pass(s.Context())

	return s.ServerStream.SendMsg(m)
}

// lined is a storage whose changes go over a line.
type lined struct {
	storage.Interface

	line *line
}

func (l lined) Watch(ctx context.Context, key string, o storage.ListOptions) (watch.Interface, error) {
	from, err := l.Interface.Watch(ctx, key, o)
	if err != nil {
		return nil, err
	}

	return watch.Filter(from, func(e watch.Event) (watch.Event, bool) {
		l.line.pass(ctx)

		return e, true
	}), nil
}

func newThing() runtime.Object  { return &thing{} }
func newThings() runtime.Object { return &corev1.ConfigMapList{} }

func keyOf(object runtime.Object) (string, error) {
	return prefix + "/" + object.(*thing).Name, nil //nolint:forcetypeassert // It is a test.
}

func attributes(object runtime.Object) (labels.Set, fields.Set, error) {
	one := object.(*thing) //nolint:forcetypeassert // It is a test.

	return one.Labels, fields.Set{"metadata.name": one.Name, "data.a": one.Data["a"]}, nil
}

// set writes a thing, with labels and data of some values.
func (p *place) set(t *testing.T, name string, values ...string) *thing {
	t.Helper()
	out := &thing{}
	err := p.GuaranteedUpdate(t.Context(), prefix+"/"+name, out, true, nil, storage.SimpleUpdate(func(runtime.Object) (runtime.Object, error) {
		one := &thing{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}, Data: map[string]string{}}
		for _, value := range values {
			one.Labels[value], one.Data[value] = "yes", value
		}

		return one, nil
	}), nil)
	if err != nil {
		t.Fatalf("set %q: %v", name, err)
	}

	return out
}

func (p *place) remove(t *testing.T, name string) *thing {
	t.Helper()
	out := &thing{}
	err := p.Delete(t.Context(), prefix+"/"+name, out, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
	if err != nil {
		t.Fatalf("delete %q: %v", name, err)
	}

	return out
}

// get reads a thing; its Name is empty if there is none.
func (p *place) get(t *testing.T, name, version string) *thing {
	t.Helper()
	out := &thing{}
	o := storage.GetOptions{ResourceVersion: version, IgnoreNotFound: true}
	if err := p.Get(t.Context(), prefix+"/"+name, o, out); err != nil {
		t.Fatalf("get %q: %v", name, err)
	}

	return out
}

func (p *place) list(t *testing.T, predicate storage.SelectionPredicate) *corev1.ConfigMapList {
	t.Helper()
	out := &corev1.ConfigMapList{}
	if err := p.GetList(t.Context(), prefix, storage.ListOptions{Recursive: true, Predicate: predicate}, out); err != nil {
		t.Fatalf("list: %v", err)
	}

	return out
}

func file(t *testing.T) string {
	t.Helper()

	return filepath.Join(t.TempDir(), "objects.db")
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("waited too long until %s", what)
		}
	}
}
