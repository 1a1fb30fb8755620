// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Gate can cut clients off from a store: when a server does not lead for certain, nothing may be written through it.
type Gate struct {
	mutex sync.Mutex
	shut  bool
	open  map[net.Conn]struct{}
}

// ErrShut says that this server is cut off from the datastore.
var ErrShut = errors.New("this server does not lead, and is cut off from the datastore")

// Guard returns an endpoint whose connections go through the gate. It has no clients without a connection.
func (g *Gate) Guard(e Endpoint) Endpoint {
	e.Direct = nil
	dial := e.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	e.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}

		return g.pass(c)
	}

	return e
}

// Shut closes all connections, and refuses new ones until Open. What was asked through them has an unknown end, and is not acknowledged.
func (g *Gate) Shut() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.shut = true
	for c := range g.open {
		c.Close() //nolint:errcheck,gosec // It is of no use anymore.
	}
	clear(g.open)
}

// Open lets connections pass again.
func (g *Gate) Open() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.shut = false
}

func (g *Gate) pass(c net.Conn) (net.Conn, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.shut {
		return nil, errors.Join(ErrShut, c.Close())
	}
	if g.open == nil {
		g.open = map[net.Conn]struct{}{}
	}
	passed := &guarded{Conn: c, gate: g}
	g.open[passed] = struct{}{}

	return passed, nil
}

// guarded is a connection that the gate can close.
type guarded struct {
	net.Conn

	gate *Gate
}

// Close implements net.Conn.
func (c *guarded) Close() error {
	err := c.Conn.Close()
	// The gate closes connections while it holds its lock.
	go c.gate.forget(c)

	return err
}

func (g *Gate) forget(c net.Conn) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	delete(g.open, c)
}
