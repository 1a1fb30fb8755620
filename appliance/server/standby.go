// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

const (
	// forwardLimit is how long connecting to the server that leads may take.
	forwardLimit = 2 * time.Second
	// mostForwarded is how many connections are forwarded at the same time.
	mostForwarded = 5000
)

// standby forwards connections as they are to the server that leads: it does not decrypt them, so clients authenticate to that server. While
// none can be reached, it answers itself that there is none.
type standby struct {
	borrowed *borrowedListener
	// self is the own address, to which nothing is forwarded.
	self   string
	places chan struct{}
	room   *waitingRoom
	direct *handedListener

	mutex  sync.Mutex
	leader string
	open   map[net.Conn]string
	ended  bool
	all    sync.WaitGroup
}

const standbyText = "[-]terrarium/leadership failed: no server of this garden leads; this one is going to\nreadyz check failed\n"

func openStandby(listener net.Listener, keys *identity.Garden, self string) (*standby, error) {
	s := &standby{
		borrowed: &borrowedListener{Listener: listener}, self: self, places: make(chan struct{}, mostForwarded),
		direct: &handedListener{address: listener.Addr(), conns: make(chan net.Conn), closed: make(chan struct{})}, open: map[net.Conn]string{},
	}
	var err error
	if s.room, err = serveWaiting(s.direct, keys, standbyText); err != nil {
		return nil, err
	}
	s.all.Go(s.accept)

	return s, nil
}

// follow makes new connections go to an address, and ends those to another one.
func (s *standby) follow(address string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.leader == address {
		return
	}
	s.leader = address
	s.cut()
}

// cut ends all connections. The caller holds the lock.
func (s *standby) cut() {
	for c := range s.open {
		c.Close() //nolint:errcheck,gosec // It is of no use anymore.
	}
	clear(s.open)
}

// close ends all connections and gives the listener back.
func (s *standby) close() {
	s.borrowed.giveBack()
	s.mutex.Lock()
	s.ended = true
	s.cut()
	s.mutex.Unlock()
	s.direct.Close()      //nolint:errcheck,gosec // It never fails.
	s.room.server.Close() //nolint:errcheck,gosec // Its listener is not that of the server.
	<-s.room.served
	s.all.Wait()
	s.borrowed.reset()
}

func (s *standby) accept() {
	for {
		c, err := s.borrowed.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-time.NewTimer(acceptPause).C

			continue
		}
		select {
		case s.places <- struct{}{}:
			s.all.Go(func() {
				defer func() { <-s.places }()
				s.serve(c)
			})
		default:
			c.Close() //nolint:errcheck,gosec // There are too many.
		}
	}
}

// acceptPause is the time after a failure to accept a connection, such as for lack of files.
const acceptPause = 50 * time.Millisecond

func (s *standby) serve(c net.Conn) {
	s.mutex.Lock()
	leader := s.leader
	s.mutex.Unlock()
	if leader == "" || leader == s.self {
		s.direct.hand(c)

		return
	}
	to, err := net.DialTimeout("tcp", leader, forwardLimit) //nolint:noctx // The limit is short.
	if err != nil {
		s.direct.hand(c)

		return
	}
	if !s.hold(leader, c, to) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		pipe(to, c)
	}()
	pipe(c, to)
	<-done
	s.drop(c, to)
}

// hold records connections to be ended, and ends them if they are of no use anymore.
func (s *standby) hold(leader string, all ...net.Conn) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, c := range all {
		s.open[c] = leader
	}
	if s.ended || s.leader != leader {
		s.cut()

		return false
	}

	return true
}

func (s *standby) drop(all ...net.Conn) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, c := range all {
		delete(s.open, c)
		c.Close() //nolint:errcheck,gosec // Both sides have ended.
	}
}

// pipe copies one direction, and tells the receiver when there is no more.
func pipe(to, from net.Conn) {
	io.Copy(to, from) //nolint:errcheck,gosec // Whatever ended it, it has ended.
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		half.CloseWrite() //nolint:errcheck,gosec // It has ended.
	}
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
