// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const (
	// informers is how many there are of each of the two kinds.
	informers = 500
	// reconnect is how long all of them together may take to come back, on a machine that is busy with other tests.
	reconnect = 3 * time.Minute
)

// wire is the network between informers and a garden. It can be cut, and counts who asks for everything.
type wire struct {
	next  http.RoundTripper
	lists *atomic.Int64
	mutex *sync.Mutex
	// cut ends what runs; nil while the wire is cut.
	life context.Context
	cut  context.CancelFunc
}

func (w *wire) mend() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.life, w.cut = context.WithCancel(context.Background())
}

func (w *wire) sever() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.cut != nil {
		w.cut()
		w.life, w.cut = nil, nil
	}
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mutex.Lock()
	life := w.life
	w.mutex.Unlock()
	if life == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	if q := r.URL.Query(); everything(q) {
		w.lists.Add(1)
	}
	ctx, cancel := context.WithCancel(r.Context())
	context.AfterFunc(life, cancel) //nolint:contextcheck // The request ends with its own context, and with the wire.
	response, err := w.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		if life.Err() != nil {
			err = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNREFUSED}
		}

		return nil, err
	}
	response.Body = body{ReadCloser: response.Body, life: life}

	return response, nil
}

func everything(q url.Values) bool {
	return q.Get("watch") != "true" || q.Get("sendInitialEvents") == "true"
}

// body ends as that of a server which goes away in peace.
type body struct {
	io.ReadCloser

	life context.Context
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.life.Err() != nil {
		err = io.EOF
	}

	return n, err
}

// notes are what an informer was told, in its order.
type notes struct {
	mutex sync.Mutex
	all   []string
}

func (n *notes) add(what string, object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		what, object = "relisted", last.Obj
	}
	one, ok := object.(metav1.Object)
	if !ok || one.GetName() == "kube-root-ca.crt" {
		return
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.all = append(n.all, fmt.Sprintf("%s %s at %s", what, one.GetName(), one.GetResourceVersion()))
}

func (n *notes) get() []string {
	n.mutex.Lock()
	defer n.mutex.Unlock()

	return append([]string{}, n.all...)
}

// inform runs an informer until the test ends.
func inform(t *testing.T, from dynamic.ResourceInterface, running *sync.WaitGroup) *notes {
	t.Helper()
	n := &notes{}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return from.List(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return from.Watch(ctx, o) },
		},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { n.add("added", object) },
			UpdateFunc: func(_, object any) { n.add("changed", object) },
			DeleteFunc: func(object any) { n.add("deleted", object) },
		},
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(stop)
	running.Go(func() { controller.RunWithContext(ctx) })

	return n
}

// kindOfTest is a kind whose objects the test writes.
type kindOfTest struct {
	resource schema.GroupVersionResource
	object   func(name string) client.Object
	value    func(object client.Object, value string)
}

// TestInformersOutliveARestart has informers of a kind of Kubernetes and of one of the garden miss changes and a restart.
func TestInformersOutliveARestart(t *testing.T) {
	t.Parallel()
	kinds := map[string]kindOfTest{
		"kubernetes": {
			resource: corev1.SchemeGroupVersion.WithResource("configmaps"),
			object: func(name string) client.Object {
				return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
			},
			value: func(object client.Object, value string) {
				object.(*corev1.ConfigMap).Data = map[string]string{"value": value} //nolint:forcetypeassert // It is a test.
			},
		},
		"garden": {
			resource: gardencorev1beta1.GroupVersion.WithResource("internalsecrets"),
			object: func(name string) client.Object {
				return &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
			},
			value: func(object client.Object, value string) {
				object.(*gardencorev1beta1.InternalSecret).Data = map[string][]byte{"value": []byte(value)} //nolint:forcetypeassert // It is a test.
			},
		},
	}
	g := harness.Start(t)
	between := &wire{lists: &atomic.Int64{}, mutex: &sync.Mutex{}}
	between.mend()
	config := rest.CopyConfig(g.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		between.next = next

		return between
	})
	reader, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	t.Cleanup(func() {
		between.sever()
		running.Wait()
	})

	all, wants := map[string][]*notes{}, map[string][]string{}
	for name, kind := range kinds {
		wants[name] = kind.write(t, g, "early", nil)
		for range informers {
			all[name] = append(all[name], inform(t, reader.Resource(kind.resource).Namespace("default"), &running))
		}
	}
	await(t, all, func(name string, n *notes) error { return atLeast(len(wants[name]), n) })
	// A watch that ends before it has delivered anything makes an informer ask for everything.
	for name, kind := range kinds {
		wants[name] = append(wants[name], kind.write(t, g, "live", nil)...)
	}
	await(t, all, func(name string, n *notes) error { return atLeast(len(wants[name]), n) })
	seen := map[*notes]int{}
	for _, some := range all {
		for _, n := range some {
			seen[n] = len(n.get())
		}
	}

	between.sever()
	for name, kind := range kinds {
		wants[name] = kind.write(t, g, "missed", []string{"early-0", "early-1"})
	}
	address := g.Config.Host
	g.Stop(t)
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", target.Host)
	if err != nil {
		t.Fatal(err)
	}
	g = harness.Start(t, harness.WithDataDir(g.DataDir), harness.WithListener(listener))
	between.lists.Store(0)
	between.mend()
	start := time.Now()
	await(t, all, func(name string, n *notes) error { return atLeast(seen[n]+len(wants[name]), n) })
	t.Logf("%d informers were level with the garden %s after the wire was mended", 2*informers, time.Since(start))
	for name, kind := range kinds {
		wants[name] = append(wants[name], kind.write(t, g, "late", nil)...)
	}
	await(t, all, func(name string, n *notes) error { return atLeast(seen[n]+len(wants[name]), n) })
	for name, some := range all {
		for i, n := range some {
			if diff := cmp.Diff(wants[name], n.get()[seen[n]:]); diff != "" {
				t.Fatalf("informer %d of %s: what it was told after the restart (-want +got):\n%s", i, name, diff)
			}
		}
	}
	if n := between.lists.Load(); n != 0 {
		t.Errorf("%d informers have asked for everything again; want 0", n)
	}
}

// write creates some objects, changes each, and deletes given ones. It returns what an informer is told of that.
func (k kindOfTest) write(t *testing.T, g *harness.Garden, prefix string, gone []string) []string {
	t.Helper()
	n := &notes{}
	for i := range 5 {
		object := k.object(fmt.Sprintf("%s-%d", prefix, i))
		if err := g.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		n.add("added", object)
		k.value(object, "changed")
		if err := g.Client.Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		n.add("changed", object)
	}
	if prefix == "early" {
		// They are there before the informers are, which are told of the last state.
		return n.get()[:len(n.get())/2]
	}
	w, err := g.Client.Watch(t.Context(), k.list(), client.InNamespace("default"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for _, name := range gone {
		if err := g.Client.Delete(t.Context(), k.object(name)); err != nil {
			t.Fatal(err)
		}
	}
	for deleted := 0; deleted < len(gone); {
		if e := <-w.ResultChan(); e.Type == watch.Deleted {
			n.add("deleted", e.Object)
			deleted++
		}
	}

	return n.get()
}

func (k kindOfTest) list() client.ObjectList {
	if k.resource.Group == "" {
		return &corev1.ConfigMapList{}
	}

	return &gardencorev1beta1.InternalSecretList{}
}

var errBehind = errors.New("an informer is behind")

func atLeast(want int, n *notes) error {
	if got := len(n.get()); got < want {
		return fmt.Errorf("%w: it was told of %d changes, want %d: %q", errBehind, got, want, n.get())
	}

	return nil
}

func await(t *testing.T, all map[string][]*notes, check func(name string, n *notes) error) {
	t.Helper()
	harness.Within(t, reconnect, "every informer is level", func(context.Context) error {
		for name, some := range all {
			for _, n := range some {
				if err := check(name, n); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}

		return nil
	})
}
