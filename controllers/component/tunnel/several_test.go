// SPDX-License-Identifier: Apache-2.0

package tunnel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestConnectToSeveral is about a control plane with two or three API servers, each of which has a server of the tunnel of its own and
// reaches nothing through that of another one. One agent, which comes to the one address of them all, serves each of them. When a server
// dies, the others do not notice, and when it is back it is served again.
func TestConnectToSeveral(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{2, 3} {
		t.Run(fmt.Sprintf("%d servers", servers), func(t *testing.T) {
			t.Parallel()
			target := beyond(t)
			s := newSite(t, nil, servers)
			for _, each := range s.servers {
				each.start(t)
			}
			began := time.Now()
			s.runAgent(t, "good")
			for _, each := range s.servers {
				each.reaches(t, target)
			}
			t.Logf("each of %d servers was reached by one agent after %s", servers, time.Since(began).Round(time.Millisecond))

			dies, others := s.servers[0], s.servers[1:]
			dies.stop()
			if diff := cmp.Diff(reached(others), asked(t, others, target)); diff != "" {
				t.Errorf("when another server has died: what the others hear (-want +got):\n%s", diff)
			}
			if said, err := dies.ask(t.Context(), target); err == nil {
				t.Errorf("through a server that has died: %q", said)
			}
			began = time.Now()
			dies.start(t)
			dies.reaches(t, target)
			t.Logf("the one that died was reached %s after it was started again", time.Since(began).Round(time.Millisecond))
			if diff := cmp.Diff(reached(others), asked(t, others, target)); diff != "" {
				t.Errorf("when another server is back: what the others hear (-want +got):\n%s", diff)
			}
		})
	}
}

// reached is what servers hear of a target that they reach.
func reached(servers []*server) []string { return slices.Repeat([]string{"from beyond"}, len(servers)) }

// asked is what servers hear of a target, or their errors.
func asked(t *testing.T, servers []*server, target string) []string {
	t.Helper()
	var all []string
	for _, each := range servers {
		said, err := each.ask(t.Context(), target)
		if err != nil {
			said += err.Error()
		}
		all = append(all, said)
	}
	return all
}

// balance leads each connection to the next server that listens, as the load balancer in front of the API servers does, and returns its port.
func balance(t *testing.T, ports []int) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var open sync.WaitGroup
	open.Go(func() {
		for turn := 0; ; turn++ {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { lead(ctx, client, turn, ports) })
		}
	})
	t.Cleanup(func() {
		cancel()
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		open.Wait()
	})
	return listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // It listens on TCP.
}

// lead connects a client with the server whose turn it is, or else with the next one, until one of them hangs up.
func lead(ctx context.Context, client net.Conn, turn int, ports []int) {
	defer client.Close() //nolint:errcheck // Nobody is left to hear of it.
	for i := range ports {
		server, err := new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", ports[(turn+i)%len(ports)]))
		if err != nil {
			continue
		}
		hangUp := func() { _ = errors.Join(client.Close(), server.Close()) }
		defer context.AfterFunc(ctx, hangUp)()
		var both sync.WaitGroup
		for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
			both.Go(func() {
				_, _ = io.Copy(to, from)
				hangUp()
			})
		}
		both.Wait()
		return
	}
}
