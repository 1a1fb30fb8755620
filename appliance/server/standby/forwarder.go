// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

const (
	// forwardLimit is how long connecting to the server that leads may take.
	forwardLimit = 2 * time.Second
	// halfOpenLimit is how long a connection goes on after one of its directions has ended.
	halfOpenLimit = 5 * time.Second
	// mostForwarded is how many connections are forwarded at the same time.
	mostForwarded = 5000
)

// Forwarder forwards connections as they are to the server that leads: it does not decrypt them, so clients authenticate to that server. While
// none can be reached, it answers itself that there is none.
type Forwarder struct {
	borrowed *borrowedListener
	// self is the own address, to which nothing is forwarded.
	self   string
	places chan struct{}
	// limit is halfOpenLimit, or less in a test.
	limit  time.Duration
	room   *WaitingRoom
	direct *handedListener

	mutex  sync.Mutex
	leader string
	open   map[net.Conn]string
	ended  bool
	all    sync.WaitGroup
}

const standbyText = "[-]terrarium/leadership failed: no server of this garden leads; this one is going to\nreadyz check failed\n"

// OpenForwarder begins to answer the connections of a listener, on a server with the given address.
func OpenForwarder(listener net.Listener, keys *identity.Garden, self string) (*Forwarder, error) {
	f := &Forwarder{
		borrowed: &borrowedListener{Listener: listener}, self: self, places: make(chan struct{}, mostForwarded), limit: halfOpenLimit,
		direct: &handedListener{address: listener.Addr(), conns: make(chan net.Conn), closed: make(chan struct{})}, open: map[net.Conn]string{},
	}
	var err error
	if f.room, err = serveWaiting(f.direct, keys, standbyText); err != nil {
		return nil, err
	}
	f.all.Go(f.accept)

	return f, nil
}

// Follow makes new connections go to an address, and ends those to another one.
func (f *Forwarder) Follow(address string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.leader == address {
		return
	}
	f.leader = address
	f.cut()
}

// cut ends all connections. The caller holds the lock.
func (f *Forwarder) cut() {
	for c := range f.open {
		c.Close() //nolint:errcheck,gosec // It is of no use anymore.
	}
	clear(f.open)
}

// Close ends all connections and gives the listener back.
func (f *Forwarder) Close() {
	f.borrowed.giveBack()
	f.mutex.Lock()
	f.ended = true
	f.cut()
	f.mutex.Unlock()
	f.direct.Close()      //nolint:errcheck,gosec // It never fails.
	f.room.server.Close() //nolint:errcheck,gosec // Its listener is not that of the server.
	<-f.room.served
	f.all.Wait()
	f.borrowed.reset()
}

func (f *Forwarder) accept() {
	for {
		c, err := f.borrowed.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-time.NewTimer(acceptPause).C

			continue
		}
		select {
		case f.places <- struct{}{}:
			f.all.Go(func() {
				defer func() { <-f.places }()
				f.serve(c)
			})
		default:
			c.Close() //nolint:errcheck,gosec // There are too many.
		}
	}
}

// acceptPause is the time after a failure to accept a connection, such as for lack of files.
const acceptPause = 50 * time.Millisecond

func (f *Forwarder) serve(c net.Conn) {
	f.mutex.Lock()
	leader := f.leader
	f.mutex.Unlock()
	if leader == "" || leader == f.self {
		f.direct.hand(c)

		return
	}
	to, err := net.DialTimeout("tcp", leader, forwardLimit) //nolint:noctx // The limit is short.
	if err != nil {
		f.direct.hand(c)

		return
	}
	if !f.hold(leader, c, to) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.pipe(to, c)
	}()
	f.pipe(c, to)
	<-done
	f.drop(c, to)
}

// hold records connections to be ended. If the leader has changed while they were made, it ends them, and only them: the others go to the
// server that leads now.
func (f *Forwarder) hold(leader string, all ...net.Conn) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	useless := f.ended || f.leader != leader
	for _, c := range all {
		if useless {
			c.Close() //nolint:errcheck,gosec // Its client tries again.

			continue
		}
		f.open[c] = leader
	}

	return !useless
}

func (f *Forwarder) drop(all ...net.Conn) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, c := range all {
		delete(f.open, c)
		c.Close() //nolint:errcheck,gosec // Both directions have ended, or had the time for it.
	}
}

// pipe copies one direction, and tells the receiver when there is no more. The other direction then has a limit: anybody can connect, and a
// client that never closes its side would hold its place after the leader has closed the other one.
func (f *Forwarder) pipe(to, from net.Conn) {
	io.Copy(to, from) //nolint:errcheck,gosec // Whatever ended it, it has ended.
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		half.CloseWrite() //nolint:errcheck,gosec // It has ended.
	}
	end := clock.RealClock{}.Now().Add(f.limit) // Connections have no other clock.
	from.SetDeadline(end)                       //nolint:errcheck,gosec // If it fails, the connection is closed already.
	to.SetDeadline(end)                         //nolint:errcheck,gosec // If it fails, the connection is closed already.
}

// handedListener is a listener of connections that were accepted by somebody else.
type handedListener struct {
	address net.Addr
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *handedListener) hand(c net.Conn) {
	select {
	case l.conns <- c:
	case <-l.closed:
		c.Close() //nolint:errcheck,gosec // Its client tries again.
	}
}

// Accept implements net.Listener.
func (l *handedListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *handedListener) Close() error {
	l.once.Do(func() { close(l.closed) })

	return nil
}

// Addr implements net.Listener.
func (l *handedListener) Addr() net.Addr { return l.address }
