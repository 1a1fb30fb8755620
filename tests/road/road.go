// SPDX-License-Identifier: Apache-2.0

// Package road has an address that leads to a server and can be made to lead to another one, as a name or an address of a machine
// that is replaced does.
package road

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Road accepts connections at one address and carries each to where the road leads at that moment.
type Road struct {
	listener net.Listener
	to       atomic.Pointer[string]
	all      sync.WaitGroup
}

// New opens a road from an address, such as "127.0.0.1:0", to the URL of a server. It is closed at the end of the test.
func New(t *testing.T, from, to string) *Road {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", from)
	if err != nil {
		t.Fatal(err)
	}
	r := &Road{listener: listener}
	r.LeadTo(to)
	r.all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go r.carry(conn)
		}
	})
	t.Cleanup(r.Close)

	return r
}

// Address is the address at which the road begins, with its port.
func (r *Road) Address() string { return r.listener.Addr().String() }

// LeadTo has new connections carried to the server with a URL.
func (r *Road) LeadTo(url string) {
	r.to.Store(new(strings.TrimPrefix(url, "https://")))
}

// Close accepts no connections any more and frees the address. Connections that are open go on until one side ends them.
func (r *Road) Close() {
	_ = r.listener.Close() // It may be closed already.
	r.all.Wait()
}

// carry carries a connection until either side ends it.
func (r *Road) carry(from net.Conn) {
	defer from.Close() //nolint:errcheck // It is over.
	to, err := new(net.Dialer).DialContext(context.Background(), "tcp", *r.to.Load())
	if err != nil {
		return
	}
	defer to.Close() //nolint:errcheck // It is over.
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			ended <- struct{}{}
		}()
	}
	<-ended
}
