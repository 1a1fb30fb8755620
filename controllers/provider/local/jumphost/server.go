// SPDX-License-Identifier: Apache-2.0

package jumphost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/crypto/ssh"
)

const (
	// handshakeTimeout is how long a client may take until it has proven its key.
	handshakeTimeout = 15 * time.Second
	// dialTimeout is how long a machine may take to accept a connection.
	dialTimeout = 10 * time.Second
	// maxConnections bounds the clients that are connected at the same time, maxTries the keys that one offers.
	maxConnections = 32
	maxTries       = 6
	// maxChannels bounds what one client has forwarded at the same time: what a machine does not take is kept here until then.
	maxChannels = 8
	// banner is the version that the server announces.
	banner = "SSH-2.0-bastion"
)

// Server accepts clients.
type Server struct {
	Config Config
	Log    logr.Logger
	// Dial connects to a machine; it is that of package net if unset.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Serve accepts clients until ctx ends; then it disconnects all of them. It closes the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })()
	free := make(chan struct{}, maxConnections)
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept a connection: %w", err)
		}
		if !s.admitted(conn) {
			_ = conn.Close()
			continue
		}
		select {
		case free <- struct{}{}:
		default:
			_ = conn.Close()
			s.Log.Info("Connection refused", "from", conn.RemoteAddr().String(), "reason", "too many connections")
			continue
		}
		clients.Go(func() {
			defer func() { <-free }()
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			if err := s.client(ctx, conn); err != nil {
				s.Log.Info("Connection ended", "from", conn.RemoteAddr().String(), "reason", err.Error())
			}
		})
	}
}

func (s *Server) admitted(conn net.Conn) bool {
	from, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	return err == nil && s.Config.Admits(from.Addr())
}

// client serves one client until it disconnects.
func (s *Server) client(ctx context.Context, conn net.Conn) error {
	defer conn.Close()                                                         //nolint:errcheck // It is of no use any more.
	if err := conn.SetDeadline(time.Now().Add(handshakeTimeout)); err != nil { //nolint:forbidigo // Deadlines of connections are in real time.
		return fmt.Errorf("limit the handshake: %w", err)
	}
	server, channels, requests, err := ssh.NewServerConn(conn, s.settings())
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return fmt.Errorf("end the handshake: %w", err)
	}
	s.Log.Info("Client logged in", "from", conn.RemoteAddr().String(), "key", server.Permissions.Extensions[fingerprint])
	var streams sync.WaitGroup
	defer streams.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	streams.Go(func() { ssh.DiscardRequests(requests) })
	free := make(chan struct{}, maxChannels)
	for channel := range channels {
		select {
		case free <- struct{}{}:
		default:
			_ = channel.Reject(ssh.ResourceShortage, fmt.Sprintf("one client has at most %d connections to nodes at the same time", maxChannels))
			continue
		}
		streams.Go(func() {
			defer func() { <-free }()
			s.channel(ctx, conn.RemoteAddr().String(), channel)
		})
	}
	return nil
}

// fingerprint is the name under which the key of a client is kept.
const fingerprint = "fingerprint"

var errKey = errors.New("this is not a key of the bastion")

func (s *Server) settings() *ssh.ServerConfig {
	settings := &ssh.ServerConfig{
		MaxAuthTries: maxTries, ServerVersion: banner,
		PublicKeyCallback: func(meta ssh.ConnMetadata, offered ssh.PublicKey) (*ssh.Permissions, error) {
			for _, key := range s.Config.Keys {
				if meta.User() == User && bytes.Equal(key.Marshal(), offered.Marshal()) {
					return &ssh.Permissions{Extensions: map[string]string{fingerprint: ssh.FingerprintSHA256(key)}}, nil
				}
			}
			return nil, errKey
		},
	}
	settings.AddHostKey(s.Config.HostKey)
	return settings
}
