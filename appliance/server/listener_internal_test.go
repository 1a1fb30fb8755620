// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
)

// pipes is a listener of one connection.
type pipes struct {
	net.Listener

	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (*pipes) Close() error { return nil }

// TestLasting closes a listener under the server that accepts from it.
func TestLasting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := &pipes{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		l := last(inner)
		given, other := net.Pipe()
		t.Cleanup(func() {
			if err := other.Close(); err != nil {
				t.Error(err)
			}
		})
		inner.conns <- given
		if c, err := l.Accept(); c != given || err != nil {
			t.Errorf("Accept() = %v, %v, want the connection", c, err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := l.Accept()
			ended <- err
		}()
		close(inner.closed)
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("The server learns that somebody else has closed its listener: %v", err)
		default:
		}
		if err := errors.Join(l.Close(), l.Close()); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("When the server has closed it, Accept() = %v, want net.ErrClosed", err)
		}
	})
}
