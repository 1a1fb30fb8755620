// SPDX-License-Identifier: Apache-2.0

package etcdwatch

import (
	"errors"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// connection is one stream. Only the goroutine of Server.Watch uses it.
type connection struct {
	server *Server
	stream etcdserverpb.Watch_WatchServer
	// wake is sent to when there may be something to deliver.
	wake    chan struct{}
	watches map[int64]*watch
	last    int64
}

// watch is one watch of a stream.
type watch struct {
	id       int64
	follower *log.Follower
	form     form
	// notify says that the client wants to hear of progress while nothing changes, quiet that nothing was sent since the
	// last time.
	notify, quiet bool
}

func (c *connection) close() {
	for _, w := range c.watches {
		w.follower.Stop()
	}
}

// serve carries out a request.
func (c *connection) serve(request *etcdserverpb.WatchRequest) error {
	switch {
	case request.GetCreateRequest() != nil:
		return c.create(request.GetCreateRequest())
	case request.GetCancelRequest() != nil:
		w, ok := c.watches[request.GetCancelRequest().WatchId]
		if !ok {
			return nil
		}

		return c.cancel(w, nil)
	case request.GetProgressRequest() != nil:
		return c.report()
	default:
		return nil
	}
}

// create starts a watch. Revision 0 means from now on.
func (c *connection) create(request *etcdserverpb.WatchCreateRequest) error {
	now := c.server.Source.Revision()
	if request.WatchId != clientv3.AutoWatchID || request.StartRevision < 0 {
		return c.refuse(now, errors.New("etcdserver: unsupported options in watch request"))
	}
	c.last++
	w := &watch{id: c.last, form: newForm(request), notify: request.ProgressNotify, quiet: true}
	after := request.StartRevision - 1
	if request.StartRevision == 0 {
		after = now
	}
	if err := c.send(&etcdserverpb.WatchResponse{Header: header(now), WatchId: w.id, Created: true}); err != nil {
		return err
	}
	follower, err := c.server.Source.Follow(w.form.keys(request), after, c.wake)
	if err != nil {
		return c.cancelled(w.id, err)
	}
	w.follower = follower
	c.watches[w.id] = w

	return nil
}

// refuse answers a request that no watch can be made of.
func (c *connection) refuse(now int64, reason error) error {
	return c.send(&etcdserverpb.WatchResponse{
		Header: header(now), WatchId: clientv3.InvalidWatchID, Created: true, Canceled: true, CancelReason: reason.Error(),
	})
}

// deliver sends what is there for every watch.
func (c *connection) deliver() error {
	for _, w := range c.watches {
		if _, err := c.flush(w); err != nil {
			return err
		}
	}

	return nil
}

// flush sends what was there for a watch when it began, and returns the revision up to which the client then has
// everything. What is published meanwhile rings again, so that a busy watch does not hold up the others on the stream. A
// watch that cannot go on is cancelled; the revision is 0 then.
func (c *connection) flush(w *watch) (upTo int64, err error) {
	goal := c.server.Source.Revision()
	for {
		records, reached, err := w.follower.Next(c.stream.Context())
		if err != nil {
			return 0, c.cancel(w, err)
		}
		if err := c.sendRecords(w, records); err != nil {
			return 0, err
		}
		if len(records) == 0 || reached >= goal {
			return reached, nil
		}
	}
}

// eventsPerMessage bounds one message, so that a large one does not hold up the others on the stream.
const eventsPerMessage = 1000

func (c *connection) sendRecords(w *watch, records []*log.Record) error {
	for len(records) > 0 {
		n := min(len(records), eventsPerMessage)
		part := records[:n]
		records = records[n:]
		events := w.form.events(part)
		if len(events) == 0 {
			continue
		}
		w.quiet = false
		err := c.send(&etcdserverpb.WatchResponse{
			Header: header(part[n-1].Revision), WatchId: w.id, Events: events,
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// notify tells the watches that asked for it, and were sent nothing for a while, how far they have come.
func (c *connection) notify() error {
	for _, w := range c.watches {
		upTo, err := c.flush(w)
		if err != nil {
			return err
		}
		if w.notify && w.quiet && upTo > 0 {
			if err := c.send(&etcdserverpb.WatchResponse{Header: header(upTo), WatchId: w.id}); err != nil {
				return err
			}
		}
		w.quiet = true
	}

	return nil
}

// report answers the question how far the watches of the stream have come, for each of them by itself: an answer for all
// would have to name the one that has come least far, and so a revision that others have left behind, which the API server
// takes for the one that its cache is at.
func (c *connection) report() error {
	for _, w := range c.watches {
		upTo, err := c.flush(w)
		if err != nil {
			return err
		}
		if upTo == 0 {
			continue
		}
		if err := c.send(&etcdserverpb.WatchResponse{Header: header(upTo), WatchId: w.id}); err != nil {
			return err
		}
	}

	return nil
}

// cancel ends a watch, and tells the client why if it was not the client's wish.
func (c *connection) cancel(w *watch, reason error) error {
	w.follower.Stop()
	delete(c.watches, w.id)

	return c.cancelled(w.id, reason)
}

func (c *connection) cancelled(id int64, reason error) error {
	answer := &etcdserverpb.WatchResponse{Header: header(c.server.Source.Revision()), WatchId: id, Canceled: true}
	switch {
	case reason == nil:
	case errors.Is(reason, log.ErrCompacted):
		answer.CompactRevision = c.server.Source.Compacted()
		answer.CancelReason = "etcdserver: mvcc: required revision has been compacted"
	default:
		answer.CancelReason = reason.Error()
	}

	return c.send(answer)
}

func (c *connection) send(response *etcdserverpb.WatchResponse) error {
	if c.server.Pause != nil {
		c.server.Pause(log.Delivering)
	}

	return c.stream.Send(response)
}

func header(revision int64) *etcdserverpb.ResponseHeader {
	return &etcdserverpb.ResponseHeader{Revision: revision}
}
