// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"net"
	"sync"
)

// lasting is a listener of which the API server sees only that it has closed it itself. The library panics when a listener ends before the
// server has been told to stop accepting. That happens when the server takes longer to stop than it may, as one that has lost the lead and its
// datastore: the units before it end, and close the listener, and the process is to say why it ends.
type lasting struct {
	net.Listener

	once   sync.Once
	closed chan struct{}
}

func last(of net.Listener) *lasting { return &lasting{Listener: of, closed: make(chan struct{})} }

// Accept implements net.Listener. If somebody else has closed the listener, it returns when this one is closed, too.
func (l *lasting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if errors.Is(err, net.ErrClosed) {
		<-l.closed
	}

	return c, err
}

// Close implements net.Listener.
func (l *lasting) Close() error {
	l.once.Do(func() { close(l.closed) })

	return l.Listener.Close()
}
