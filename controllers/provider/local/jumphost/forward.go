// SPDX-License-Identifier: Apache-2.0

package jumphost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"sync"

	"golang.org/x/crypto/ssh"
)

// forwarding is the type of channels that lead to another host (RFC 4254, section 7.2).
const forwarding = "direct-tcpip"

// target is what a client asks for with such a channel.
type target struct {
	Host       string
	Port       uint32
	Originator string
	From       uint32
}

func (t target) address() (netip.AddrPort, error) {
	address, err := netip.ParseAddr(t.Host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address: this host does not look up names, so use the address of the node", t.Host)
	}
	if t.Port > math.MaxUint16 {
		return netip.AddrPort{}, errors.New("there is no such port")
	}
	return netip.AddrPortFrom(address, uint16(t.Port)), nil
}

// channel answers one wish of a client.
func (s *Server) channel(ctx context.Context, from string, wish ssh.NewChannel) {
	if wish.ChannelType() != forwarding {
		_ = wish.Reject(ssh.Prohibited, "this host gives no shell, it only leads to nodes (ssh -J)")
		return
	}
	var asked target
	if err := ssh.Unmarshal(wish.ExtraData(), &asked); err != nil {
		_ = wish.Reject(ssh.ConnectionFailed, "the request cannot be read")
		return
	}
	to, err := asked.address()
	if err != nil {
		_ = wish.Reject(ssh.Prohibited, err.Error())
		return
	}
	if !s.Config.Reaches(to) {
		_ = wish.Reject(ssh.Prohibited, fmt.Sprintf("%s is not port %d of a node", to, Port))
		s.Log.Info("Forwarding refused", "from", from, "to", to.String())
		return
	}
	limited, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	node, err := s.dial(limited, to)
	if err != nil {
		_ = wish.Reject(ssh.ConnectionFailed, fmt.Sprintf("%s does not answer", to))
		return
	}
	defer node.Close() //nolint:errcheck // It is of no use any more.
	client, requests, err := wish.Accept()
	if err != nil {
		return
	}
	s.Log.Info("Forwarding", "from", from, "to", to.String())
	join(ctx, client, requests, node)
}

func (s *Server) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	if s.Dial != nil {
		return s.Dial(ctx, "tcp", to.String())
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
}

// join copies in both directions until both have ended, or ctx has.
func join(ctx context.Context, client ssh.Channel, requests <-chan *ssh.Request, node net.Conn) {
	defer client.Close() //nolint:errcheck // It is of no use any more.
	defer context.AfterFunc(ctx, func() { _ = node.Close() })()
	var copies sync.WaitGroup
	copies.Go(func() { ssh.DiscardRequests(requests) })
	copies.Go(func() {
		_, _ = io.Copy(node, client)
		if half, ok := node.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	})
	_, _ = io.Copy(client, node)
	_ = client.Close()
	_ = node.Close()
	copies.Wait()
}
