// SPDX-License-Identifier: Apache-2.0

package direct

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Server lets clients call the servers of a store. The fields are set before the first client is made.
type Server struct {
	// KV serves keys and values.
	KV etcdserverpb.KVServer
	// Lease serves leases, of which only grants reach it.
	Lease etcdserverpb.LeaseServer
	// Watch serves watches.
	Watch etcdserverpb.WatchServer
	// Maintenance tells the version of the store.
	Maintenance etcdserverpb.MaintenanceServer
	// Name tells the store apart from others in this process.
	Name string
	// MaxRequestBytes is the size of the largest request that is let through.
	MaxRequestBytes int

	mutex   sync.RWMutex
	closed  bool
	calls   sync.WaitGroup
	cancels map[*stream]context.CancelCauseFunc
}

var errClosed = status.Error(codes.Unavailable, "the store is closed")

// keepAliveTimeout is for leases that are kept alive, which the API server never does.
const keepAliveTimeout = time.Second

// Client is a client of a store in this process.
type Client struct {
	*kubernetes.Client

	server *Server
}

// Endpoints returns the name of the store. The library keeps what it knows of a store by it.
func (c *Client) Endpoints() []string { return []string{c.server.Name} }

// Status returns the version of the store, by which the library decides what it may ask for.
func (c *Client) Status(ctx context.Context, _ string) (*clientv3.StatusResponse, error) {
	status, err := call(ctx, c.server, &etcdserverpb.StatusRequest{}, c.server.Maintenance.Status)

	return (*clientv3.StatusResponse)(status), err
}

// Client returns a client of the server. The caller closes it.
func (s *Server) Client() *Client {
	c := clientv3.NewCtxClient(context.Background()) //nolint:forbidigo // It lives until it is closed.
	c.KV = clientv3.NewKVFromKVClient(kv{server: s}, c)
	c.Lease = clientv3.NewLeaseFromLeaseClient(leases{server: s}, c, keepAliveTimeout)
	c.Watcher = clientv3.NewWatchFromWatchClient(watches{server: s}, c)
	client := &kubernetes.Client{Client: c}
	client.Kubernetes = client

	return &Client{Client: client, server: s}
}

// Close refuses new calls, ends all watches and waits for the calls in flight, but not for longer than a limit: the end of the servers, which
// can be closed afterwards, ends the others.
func (s *Server) Close(limit time.Duration) {
	s.mutex.Lock()
	s.closed = true
	for _, cancel := range s.cancels {
		cancel(errClosed)
	}
	s.mutex.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.calls.Wait()
	}()
	over := time.NewTimer(limit)
	defer over.Stop()
	select {
	case <-ended:
	case <-over.C:
	}
}

// enter lets a call in, which has to leave afterwards.
func (s *Server) enter() error {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.closed {
		return errClosed
	}
	s.calls.Add(1)

	return nil
}

// sized is a request that knows how long it is on the wire.
type sized interface{ Size() int }

// call makes one call with a request, as a connection would: what is too large is refused, and errors have a code.
func call[Request sized, Response any](
	ctx context.Context, s *Server, request Request, method func(context.Context, Request) (Response, error),
) (response Response, err error) {
	if n := request.Size(); n > s.MaxRequestBytes {
		// The API server knows this error by its words, and tries again without the managed fields of an object.
		return response, status.Errorf(codes.ResourceExhausted, "trying to send message larger than max (%d vs. %d)", n, s.MaxRequestBytes)
	}
	if err := ctx.Err(); err != nil {
		return response, coded(err)
	}
	if err := s.enter(); err != nil {
		return response, err
	}
	defer s.calls.Done()
	response, err = method(ctx, request)

	return response, coded(err)
}

// coded gives an error the code that a client would get over a connection.
func coded(err error) error {
	if err == nil {
		return nil
	}
	known, ok := status.FromError(err)
	if !ok {
		known = status.FromContextError(err)
	}

	return known.Err() //nolint:wrapcheck // The message is that of the server.
}
