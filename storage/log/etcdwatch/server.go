// SPDX-License-Identifier: Apache-2.0

package etcdwatch

import (
	"errors"
	"io"
	"time"

	"github.com/go-logr/logr"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// Server serves watches. It implements etcdserverpb.WatchServer.
type Server struct {
	// Source is what is watched.
	Source *log.Log
	// NotifyInterval is the time between two progress notifications of a watch that asked for them.
	NotifyInterval time.Duration
	// Clock paces the notifications.
	Clock clock.WithTicker
	// Log receives what an operator has to know.
	Log logr.Logger
	// Pause is for tests, as the one of a log is.
	Pause func(log.Moment)
}

var _ etcdserverpb.WatchServer = (*Server)(nil)

// Watch serves one stream, on which a client may have many watches.
func (s *Server) Watch(stream etcdserverpb.Watch_WatchServer) error {
	requests := make(chan *etcdserverpb.WatchRequest)
	received := make(chan error, 1)
	go func() { received <- receive(stream, requests) }()

	c := &connection{server: s, stream: stream, wake: make(chan struct{}, 1), watches: map[int64]*watch{}}
	defer c.close()
	tick := s.Clock.NewTicker(s.NotifyInterval)
	defer tick.Stop()
	for {
		var err error
		select {
		case request := <-requests:
			err = c.serve(request)
		case <-c.wake:
			err = c.deliver()
		case <-tick.C():
			err = c.notify()
		case err = <-received:
			if errors.Is(err, io.EOF) {
				return nil
			}

			return err
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
		if err != nil {
			return err
		}
	}
}

func receive(stream etcdserverpb.Watch_WatchServer, into chan<- *etcdserverpb.WatchRequest) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return err
		}
		select {
		case into <- request:
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}
