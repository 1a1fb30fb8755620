// SPDX-License-Identifier: Apache-2.0

package direct_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/kine/direct"
)

// start opens stores that are closed at the end of the test.
func start(t *testing.T) (stores *kine.Stores, stop func()) {
	t.Helper()
	stores, err := kine.Start(t.Context(), kine.NewConfig(filepath.Join(t.TempDir(), "db")))
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := stores.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)

	return stores, stop
}

// create writes a key that does not exist, as the API server does.
func create(ctx context.Context, c *clientv3.Client, key, value string) (*clientv3.TxnResponse, error) {
	return c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).Then(clientv3.OpPut(key, value)).Else(clientv3.OpGet(key)).Commit()
}

// seen is what a client is told.
type seen struct {
	Values   []string
	Count    int64
	More, OK bool
	Error    string
	Code     codes.Code
}

// code is that of an error of the store, which the client knows or not.
func code(err error) codes.Code {
	if known, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return known.Code()
	}

	return status.Code(err)
}

func look(response any, err error) seen {
	s := seen{Code: code(err)}
	if err != nil {
		s.Error = err.Error()

		return s
	}
	switch r := response.(type) {
	case *clientv3.GetResponse:
		s.Count, s.More = r.Count, r.More
		for _, one := range r.Kvs {
			s.Values = append(s.Values, string(one.Key)+"="+string(one.Value))
		}
	case *clientv3.TxnResponse:
		s.OK = r.Succeeded
		for _, one := range r.Responses {
			for _, found := range one.GetResponseRange().GetKvs() {
				s.Values = append(s.Values, string(found.Key)+"="+string(found.Value))
			}
		}
	}

	return s
}

// TestSameAsConnection: a client without a connection is told the same as one with a connection, errors included.
func TestSameAsConnection(t *testing.T) {
	t.Parallel()
	stores, _ := start(t)
	near := stores.Objects.Direct()
	t.Cleanup(func() { near.Close() }) //nolint:errcheck // It has no connection.
	far, err := stores.Objects.Client()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() }) //nolint:errcheck // The test is over.
	for _, key := range []string{"/a/1", "/a/2", "/a/3"} {
		if _, err := create(t.Context(), near.Client.Client, key, "v"+key); err != nil {
			t.Fatal(err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()

	for name, ask := range map[string]func(c *clientv3.Client) (any, error){
		"Get":     func(c *clientv3.Client) (any, error) { return c.Get(t.Context(), "/a/1") },
		"Missing": func(c *clientv3.Client) (any, error) { return c.Get(t.Context(), "/b") },
		"List": func(c *clientv3.Client) (any, error) {
			return c.Get(t.Context(), "/a/", clientv3.WithPrefix(), clientv3.WithLimit(2))
		},
		"Count": func(c *clientv3.Client) (any, error) {
			return c.Get(t.Context(), "/a/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		},
		"Conflict": func(c *clientv3.Client) (any, error) { return create(t.Context(), c, "/a/2", "other") },
		"Future":   func(c *clientv3.Client) (any, error) { return c.Get(t.Context(), "/a/1", clientv3.WithRev(1<<40)) },
		"Unsupported": func(c *clientv3.Client) (any, error) {
			return c.Get(t.Context(), "/a/1", clientv3.WithMinModRev(1))
		},
		// By this error the API server decides to try again without the managed fields of the object.
		"TooLarge": func(c *clientv3.Client) (any, error) {
			return create(t.Context(), c, "/large", strings.Repeat("x", 2<<20))
		},
		"Ended": func(c *clientv3.Client) (any, error) { return c.Get(ended, "/a/1") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, got := look(ask(far)), look(ask(near.Client.Client))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-connected, +direct:\n%s", diff)
			}
			if (want.Error == "") != (want.Code == codes.OK) {
				t.Errorf("the error %q has the code %v: codes are not compared", want.Error, want.Code)
			}
		})
	}
}

// TestTooLarge: a request that the server of the store would refuse for its size is refused.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	stores, _ := start(t)
	c := stores.Objects.Direct()
	defer c.Close() //nolint:errcheck // It has no connection.
	if _, err := create(t.Context(), c.Client.Client, "/large", strings.Repeat("x", 2<<20)); err == nil || !strings.Contains(err.Error(), "larger than max") {
		t.Errorf("write 2 MiB and a key: got error %v, want that it is too large", err)
	}
	if r, err := create(t.Context(), c.Client.Client, "/large", strings.Repeat("x", 1<<20)); err != nil || !r.Succeeded {
		t.Errorf("write 1 MiB: %v", err)
	}
}

// TestStatus: the version is told as over a connection, by which the library decides whether it may ask watches for their progress.
func TestStatus(t *testing.T) {
	t.Parallel()
	stores, _ := start(t)
	near := stores.Objects.Direct()
	defer near.Close() //nolint:errcheck // It has no connection.
	far, err := stores.Objects.Client()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close() //nolint:errcheck // The test is over.
	if diff := cmp.Diff(stores.Objects.Servers, near.Endpoints()); diff != "" {
		t.Errorf("endpoints: -want, +got:\n%s", diff)
	}
	want, err := far.Status(t.Context(), stores.Objects.Servers[0])
	if err != nil {
		t.Fatal(err)
	}
	got, err := near.Status(t.Context(), near.Endpoints()[0])
	if err != nil || got.Version == "" || got.Version != want.Version {
		t.Errorf("version: got %v, %v, want %s", got, err, want.Version)
	}
}

// TestLease: a key with a lease is written with it.
func TestLease(t *testing.T) {
	t.Parallel()
	stores, _ := start(t)
	c := stores.Objects.Direct()
	defer c.Close() //nolint:errcheck // It has no connection.
	lease, err := c.Grant(t.Context(), 3600)
	if err != nil {
		t.Fatal(err)
	}
	key := "/lease"
	if _, err := c.Txn(t.Context()).If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "v", clientv3.WithLease(lease.ID))).Commit(); err != nil {
		t.Fatal(err)
	}
	got, err := c.KV.Get(t.Context(), key)
	if err != nil || len(got.Kvs) != 1 || got.Kvs[0].Lease != int64(lease.ID) {
		t.Errorf("got %v, %v, want the key with the lease %d", got, err, lease.ID)
	}
	if _, err := c.Revoke(t.Context(), lease.ID); err == nil {
		t.Error("revoke: got no error, want that it is refused")
	}
}

// TestWatch: watches tell of changes in their order, from any revision, and end with their contexts.
func TestWatch(t *testing.T) {
	t.Parallel()
	stores, stop := start(t)
	c := stores.Objects.Direct()
	defer c.Close() //nolint:errcheck // It has no connection.
	first, err := create(t.Context(), c.Client.Client, "/w/1", "1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	events := c.Watch(ctx, "/w/", clientv3.WithPrefix(), clientv3.WithRev(first.Header.Revision))
	other := c.Watch(t.Context(), "/w/", clientv3.WithPrefix(), clientv3.WithRev(first.Header.Revision+1))
	if _, err := create(t.Context(), c.Client.Client, "/w/2", "2"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/w/1=1", "/w/2=2"}, take(t, events, 2)); diff != "" {
		t.Errorf("events from the first one: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/w/2=2"}, take(t, other, 1)); diff != "" {
		t.Errorf("events after the first one: -want, +got:\n%s", diff)
	}
	cancel()
	for range events {
	}
	// The other one would go on; the end of the store does not wait for it.
	stop()
}

// TestProgressUnderWrites: questions for the progress of a watch and its events do not wait for each other.
func TestProgressUnderWrites(t *testing.T) {
	t.Parallel()
	const n = 2000
	stores, _ := start(t)
	c := stores.Objects.Direct()
	defer c.Close() //nolint:errcheck // It has no connection.
	events := c.Watch(t.Context(), "/p/", clientv3.WithPrefix(), clientv3.WithRev(1))
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			for range n {
				if err := c.RequestProgress(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	asking.Go(func() {
		for i := range n / 10 {
			if _, err := create(t.Context(), c.Client.Client, "/p/"+strconv.Itoa(i), "v"); err != nil {
				t.Error(err)
			}
		}
	})
	take(t, events, n/10)
	asking.Wait()
}

func take(t *testing.T, events clientv3.WatchChan, n int) (values []string) {
	t.Helper()
	for len(values) < n {
		r, ok := <-events
		if !ok || r.Err() != nil {
			t.Fatalf("the watch has ended: %v", r.Err())
		}
		for _, e := range r.Events {
			values = append(values, string(e.Kv.Key)+"="+string(e.Kv.Value))
		}
	}

	return values
}

// TestClosed: nothing reaches a store that is closed.
func TestClosed(t *testing.T) {
	t.Parallel()
	stores, stop := start(t)
	c := stores.Objects.Direct()
	defer c.Close() //nolint:errcheck // It has no connection.
	if _, err := c.KV.Get(t.Context(), "/a"); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := c.KV.Get(t.Context(), "/a"); status.Code(err) != codes.Unavailable {
		t.Errorf("get: got error %v, want that the store is unavailable", err)
	}
	// The client tries again until then.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r, ok := <-c.Watch(ctx, "/a"); ok && r.Err() == nil {
		t.Errorf("watch: got %+v, want no event", r)
	}
}

// slow is a store in which reading /a lasts until it is released.
type slow struct {
	etcdserverpb.KVServer

	began, release chan struct{}
}

// Range implements etcdserverpb.KVServer.
func (s slow) Range(_ context.Context, r *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	if string(r.Key) == "/a" {
		close(s.began)
		<-s.release
	}

	return &etcdserverpb.RangeResponse{Header: &etcdserverpb.ResponseHeader{Revision: 7}}, nil
}

// TestCloseWaits: a call in flight gets its answer before the store is closed.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	store := slow{began: make(chan struct{}), release: make(chan struct{})}
	s := &direct.Server{KV: store, MaxRequestBytes: 1 << 10}
	c := s.Client()
	defer c.Close() //nolint:errcheck // It has no connection.
	answered := make(chan int64, 1)
	go func() {
		r, err := c.KV.Get(t.Context(), "/a")
		if err != nil {
			t.Error(err)
			r = &clientv3.GetResponse{Header: &etcdserverpb.ResponseHeader{}}
		}
		answered <- r.Header.Revision
	}()
	<-store.began
	closed := make(chan struct{})
	go func() { s.Close(time.Minute); close(closed) }()
	for { // From now on nothing new is let in.
		if _, err := c.KV.Get(t.Context(), "/b"); status.Code(err) == codes.Unavailable {
			break
		}
	}
	select {
	case <-closed:
		t.Error("it was closed with a call in flight")
	default:
	}
	close(store.release)
	if got := <-answered; got != 7 {
		t.Errorf("got revision %d, want 7", got)
	}
	<-closed
}

// TestCloseDoesNotWaitForGood: a call that does not end does not keep the store open.
func TestCloseDoesNotWaitForGood(t *testing.T) {
	t.Parallel()
	store := slow{began: make(chan struct{}), release: make(chan struct{})}
	s := &direct.Server{KV: store, MaxRequestBytes: 1 << 10}
	c := s.Client()
	defer c.Close() //nolint:errcheck // It has no connection.
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		c.KV.Get(t.Context(), "/a") //nolint:errcheck // It is about the end of the store.
	}()
	<-store.began
	closed := make(chan struct{})
	go func() { s.Close(time.Millisecond); close(closed) }()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("the end of the store waits for a call")
	}
	close(store.release)
	<-asked
	<-closed
}
