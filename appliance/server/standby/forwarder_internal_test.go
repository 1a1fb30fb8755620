// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// patience is how long a test waits for what must happen at once.
const patience = 30 * time.Second

// forwarding is a forwarder that follows a leader, both on this machine.
type forwarding struct {
	*Forwarder

	address string
	leader  net.Listener
}

func newForwarding(t *testing.T, limit time.Duration) *forwarding {
	t.Helper()
	keys, err := identity.Ensure(filepath.Join(t.TempDir(), "data"), identity.Names{}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	listener, leader := listen(t), listen(t)
	f, err := OpenForwarder(listener, keys, listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	f.mutex.Lock()
	f.limit = limit
	f.mutex.Unlock()
	f.Follow(leader.Addr().String())

	return &forwarding{Forwarder: f, address: listener.Addr().String(), leader: leader}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })

	return l
}

// connect returns both ends of a connection that goes to an address and arrives at a listener, at once or by way of the forwarder.
func connect(t *testing.T, address string, at net.Listener) (client, server *net.TCPConn) {
	t.Helper()
	dialed, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := at.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{dialed, accepted} {
		t.Cleanup(func() { _ = c.Close() })
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
	}

	return dialed.(*net.TCPConn), accepted.(*net.TCPConn) //nolint:forcetypeassert // They are of TCP.
}

// send writes a text to one end and reads it at the other one.
func send(t *testing.T, reason, text string, from, to net.Conn) {
	t.Helper()
	if _, err := io.WriteString(from, text); err != nil {
		t.Fatalf("%s\nsend %q: %v", reason, text, err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(to, got); err != nil {
		t.Fatalf("%s\nreceive %q: %v", reason, text, err)
	}
	if diff := cmp.Diff(text, string(got)); diff != "" {
		t.Errorf("%s\nwhat arrives (-want +got):\n%s", reason, diff)
	}
}

// ended waits until a connection has ended.
func ended(t *testing.T, reason string, c net.Conn) {
	t.Helper()
	_, err := io.Copy(io.Discard, c)
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		t.Errorf("%s\nThe connection is still open after %s.", reason, patience)
	}
}

// TestForwardedPlaceIsGivenBack has clients that keep their side open after the leader has closed, and one that does not read.
func TestForwardedPlaceIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		end    func(t *testing.T, client, leader *net.TCPConn)
	}{
		"leader": {
			reason: "A client that does not close after the leader has, holds no place.",
			end: func(t *testing.T, client, leader *net.TCPConn) {
				t.Helper()
				if err := leader.Close(); err != nil {
					t.Fatal(err)
				}
				ended(t, "The client is told that there is no more.", client)
			},
		},
		"client": {
			reason: "Nor does one that has closed, of which the leader knows nothing more.",
			end: func(t *testing.T, client, leader *net.TCPConn) {
				t.Helper()
				if err := client.CloseWrite(); err != nil {
					t.Fatal(err)
				}
				ended(t, "The leader is told that there is no more.", leader)
			},
		},
		"reads nothing": {
			reason: "Nor does one that has closed and reads nothing of an answer without end.",
			end: func(t *testing.T, client, leader *net.TCPConn) {
				t.Helper()
				if err := client.CloseWrite(); err != nil {
					t.Fatal(err)
				}
				_, err := io.Copy(leader, endless{})
				if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
					t.Errorf("The leader must not wait for the client.\nwrite: %v", err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newForwarding(t, 10*time.Millisecond)
			client, leader := connect(t, f.address, f.leader)
			send(t, "A connection is forwarded.", "request", client, leader)
			tc.end(t, client, leader)
			timer := time.NewTimer(patience)
			defer timer.Stop()
			for range mostForwarded {
				select {
				case f.places <- struct{}{}:
				case <-timer.C:
					t.Fatalf("%s\nplaces held after %s: 1, want 0", tc.reason, patience)
				}
			}
		})
	}
}

// endless has no end.
type endless struct{}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestForwardedAnswerAfterRequest has a client that closes its side once it has sent its request.
func TestForwardedAnswerAfterRequest(t *testing.T) {
	t.Parallel()
	f := newForwarding(t, time.Minute)
	client, leader := connect(t, f.address, f.leader)
	send(t, "A connection is forwarded.", "request", client, leader)
	if err := client.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	ended(t, "The leader is told that the request is complete.", leader)
	send(t, "The direction that is left has time for the answer.", "answer", leader, client)
}

// TestForwarderKeepsConnectionsToNewLeader has a connection to the former leader that is made only after the leader has changed.
func TestForwarderKeepsConnectionsToNewLeader(t *testing.T) {
	t.Parallel()
	f := newForwarding(t, time.Minute)
	client, leader := connect(t, f.address, f.leader)
	send(t, "A connection is forwarded.", "request", client, leader)

	former := listen(t)
	late, gone := connect(t, former.Addr().String(), former)
	if f.hold(former.Addr().String(), late, gone) {
		t.Error("A connection to the former leader is of no use.\nhold(...): got true, want false")
	}
	for _, c := range []net.Conn{late, gone} {
		if _, err := c.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("A connection to the former leader is ended.\nwrite: got %v, want %v", err, net.ErrClosed)
		}
	}
	send(t, "Those to the leader go on.", "another request", client, leader)
	send(t, "Those to the leader go on.", "another answer", leader, client)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if diff := cmp.Diff(2, len(f.open)); diff != "" {
		t.Errorf("A connection that has ended is forgotten.\nrecorded connections (-want +got):\n%s", diff)
	}
}
