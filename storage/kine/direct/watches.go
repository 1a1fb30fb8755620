// SPDX-License-Identifier: Apache-2.0

package direct

import (
	"context"
	"errors"
	"io"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// watches implements etcdserverpb.WatchClient.
type watches struct{ server *Server }

// Watch opens a stream, which ends with ctx, with the server, or when the server's method returns.
func (c watches) Watch(ctx context.Context, _ ...grpc.CallOption) (etcdserverpb.Watch_WatchClient, error) {
	if err := c.server.enter(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stream{
		ctx: ctx, asked: make(chan struct{}, 1), responses: make(chan *etcdserverpb.WatchResponse),
		sent: make(chan struct{}), ended: make(chan struct{}),
	}
	c.server.remember(s, cancel)
	go func() {
		defer c.server.calls.Done()
		defer c.server.forget(s)
		cancel(s.end(c.server.Watch.Watch(served{stream: s})))
	}()

	return s, nil
}

// remember notes how to end a stream. One that comes after Close has looked ends at once.
func (s *Server) remember(of *stream, cancel context.CancelCauseFunc) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		cancel(errClosed)
	}
	if s.cancels == nil {
		s.cancels = map[*stream]context.CancelCauseFunc{}
	}
	s.cancels[of] = cancel
}

func (s *Server) forget(of *stream) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.cancels, of)
}

// stream is one stream of watches, as its client sees it. The server waits until the client has taken a response. Requests wait in a
// queue: the goroutine of the client that sends them also takes the responses, so that it must never wait for the server.
type stream struct {
	// ClientStream is nil: clients of etcd use no other methods.
	grpc.ClientStream

	ctx context.Context //nolint:containedctx // It is the context of the stream, which its interface returns.

	mutex    sync.Mutex
	requests []*etcdserverpb.WatchRequest
	// asked is sent to when there are requests.
	asked     chan struct{}
	responses chan *etcdserverpb.WatchResponse
	// sent is closed when the client sends nothing more.
	sent     chan struct{}
	sentOnce sync.Once
	// ended is closed when the server has ended the stream with err.
	ended chan struct{}
	err   error
}

// end ends the stream for its client, and returns what the client is told.
func (s *stream) end(err error) error {
	s.err = io.EOF
	if err != nil {
		s.err = coded(err)
	}
	close(s.ended)

	return s.err
}

// over is why the stream has ended by its context.
func (s *stream) over() error {
	cause := context.Cause(s.ctx)
	if errors.Is(cause, io.EOF) {
		return io.EOF
	}

	return coded(cause)
}

// Context implements grpc.ClientStream.
func (s *stream) Context() context.Context { return s.ctx }

// Send implements etcdserverpb.Watch_WatchClient.
func (s *stream) Send(r *etcdserverpb.WatchRequest) error {
	select {
	case <-s.ended:
		return io.EOF // The reason comes with Recv.
	case <-s.ctx.Done():
		return s.over()
	default:
	}
	s.mutex.Lock()
	s.requests = append(s.requests, r)
	s.mutex.Unlock()
	select {
	case s.asked <- struct{}{}:
	default:
	}

	return nil
}

// next takes the oldest request, nil if there is none.
func (s *stream) next() *etcdserverpb.WatchRequest {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.requests) == 0 {
		return nil
	}
	r := s.requests[0]
	s.requests = s.requests[1:]

	return r
}

// CloseSend implements grpc.ClientStream.
func (s *stream) CloseSend() error {
	s.sentOnce.Do(func() { close(s.sent) })

	return nil
}

// Recv implements etcdserverpb.Watch_WatchClient.
func (s *stream) Recv() (*etcdserverpb.WatchResponse, error) {
	select {
	case r := <-s.responses:
		return r, nil
	case <-s.ended:
		return nil, s.err
	case <-s.ctx.Done():
		return nil, s.over()
	}
}

// served is a stream as its server sees it.
type served struct {
	// ServerStream is nil: the server of watches uses no other methods.
	grpc.ServerStream

	stream *stream
}

// Context implements grpc.ServerStream.
func (s served) Context() context.Context { return s.stream.ctx }

// Send implements etcdserverpb.Watch_WatchServer.
func (s served) Send(r *etcdserverpb.WatchResponse) error {
	select {
	case s.stream.responses <- r:
		return nil
	case <-s.stream.ctx.Done():
		return s.stream.over()
	}
}

// Recv implements etcdserverpb.Watch_WatchServer.
func (s served) Recv() (*etcdserverpb.WatchRequest, error) {
	for {
		if r := s.stream.next(); r != nil {
			return r, nil
		}
		select {
		case <-s.stream.asked:
		case <-s.stream.sent:
			return nil, io.EOF
		case <-s.stream.ctx.Done():
			return nil, s.stream.over()
		}
	}
}
