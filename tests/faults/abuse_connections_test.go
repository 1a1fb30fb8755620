// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// TestHalfOpenConnections opens a thousand connections that stay silent before, in the middle of and after the handshake. The server
// closes those without a handshake by itself.
//
//nolint:paralleltest // It looks at the descriptors of the server.
func TestHalfOpenConnections(t *testing.T) {
	const each = 350
	g := start(t, t.TempDir())
	other := g.witness(t, "half-open")
	eventually(t, "the other client has its connection", func(context.Context) bool { return g.descriptors(t) > 0 })
	before := g.descriptors(t)
	began := time.Now()
	var silent, shaken []net.Conn
	for n := range each {
		silent = append(silent, g.connect(t))
		half := g.connect(t)
		// The head of a record that announces a hello of 512 bytes, and a part of it.
		if _, err := half.Write([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")[:1+n%11]); err != nil {
			t.Fatal(err)
		}
		silent = append(silent, half)
		done := tls.Client(g.connect(t), g.trusting("h2"))
		if err := done.HandshakeContext(t.Context()); err != nil {
			t.Fatalf("handshake %d: %v", n, err)
		}
		shaken = append(shaken, done)
	}
	t.Logf("%d descriptors and %d MiB with %d silent connections", g.descriptors(t), g.memory(t), len(silent)+len(shaken))
	for _, conn := range silent {
		if err := conn.SetReadDeadline(began.Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the server does not close a connection without a handshake")
		}
	}
	t.Logf("all of them without a handshake are closed after %s", time.Since(began).Round(time.Second))
	for _, conn := range shaken {
		conn.Close() //nolint:errcheck // Nothing is lost.
	}
	other.end(t)
	g.settled(t, before)
}

// trusting is the TLS configuration of a client without a certificate.
func (g *garden) trusting(protocols ...string) *tls.Config {
	config, err := rest.TLSConfigFor(g.anonymous())
	if err != nil {
		panic(err)
	}
	host, _, err := net.SplitHostPort(strings.TrimPrefix(g.config.Host, "https://"))
	if err != nil {
		panic(err)
	}
	config.ServerName, config.NextProtos = host, protocols

	return config
}

// TestWrongTLS speaks old versions, no TLS at all, and nonsense.
//
//nolint:paralleltest // It looks at the descriptors of the server.
func TestWrongTLS(t *testing.T) {
	g := start(t, t.TempDir())
	other := g.witness(t, "tls")
	t.Run("OldVersions", func(t *testing.T) {
		accepted := map[string]bool{}
		for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12} {
			config := g.trusting()
			config.MinVersion, config.MaxVersion = version, version
			accepted[tls.VersionName(version)] = tls.Client(g.connect(t), config).HandshakeContext(t.Context()) == nil
		}
		if diff := cmp.Diff(map[string]bool{"TLS 1.0": false, "TLS 1.1": false, "TLS 1.2": true}, accepted); diff != "" {
			t.Errorf("versions that are accepted (-want +got):\n%s", diff)
		}
	})
	t.Run("NoTLS", func(t *testing.T) {
		conn := g.connect(t)
		if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: garden\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("a client that speaks no TLS is told so: %v", err)
		}
		defer response.Body.Close() //nolint:errcheck // Nothing is lost.
		text, err := io.ReadAll(response.Body)
		if response.StatusCode != http.StatusBadRequest || !bytes.Contains(text, []byte("HTTPS")) || err != nil {
			t.Errorf("a client that speaks no TLS is told so: got %d %q (%v)", response.StatusCode, text, err)
		}
	})
	t.Run("Nonsense", func(t *testing.T) {
		random := garbage{Rand: rand.New(rand.NewPCG(2, 2))}
		var group errgroup.Group
		group.SetLimit(20)
		for range 1000 {
			conn, text := g.connect(t), append([]byte{0x16, 3, byte(random.IntN(5))}, random.bytes(random.IntN(20_000))...)
			group.Go(func() error {
				defer conn.Close() //nolint:errcheck // Nothing is lost.
				_, _ = conn.Write(text)
				_ = conn.(*net.TCPConn).CloseWrite()
				_ = conn.SetReadDeadline(time.Now().Add(patience))
				_, err := io.Copy(io.Discard, conn)
				if errors.Is(err, os.ErrDeadlineExceeded) {
					return err
				}

				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Errorf("the server closes a connection with nonsense: %v", err)
		}
	})
	other.end(t)
}

// TestIdleWatches holds a thousand watches open, each on a connection of its own. All of them are told of one change, and when they
// are gone nothing of them is left in the server.
//
//nolint:paralleltest // It looks at the descriptors of the server.
func TestIdleWatches(t *testing.T) {
	const watches = 1000
	g := start(t, t.TempDir())
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	before, memory := g.descriptors(t), g.memory(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var opened, told errgroup.Group
	opened.SetLimit(20)
	for range watches {
		opened.Go(func() error {
			config := rest.CopyConfig(g.config)
			config.Dial = dialer()
			c, err := client.NewWithWatch(config, client.Options{Scheme: kinds, Mapper: g.clients[0].RESTMapper()})
			if err != nil {
				return err
			}
			w, err := c.Watch(ctx, &gardencorev1beta1.InternalSecretList{}, client.InNamespace(namespace))
			if err != nil {
				return err
			}
			told.Go(func() error {
				defer w.Stop()
				select {
				case event, ok := <-w.ResultChan():
					if !ok || event.Object.(client.Object).GetName() != "news" {
						return errors.New("the watch ended, or told of something else")
					}

					return nil
				case <-time.After(patience):
					return errors.New("the watch was told nothing")
				}
			})

			return nil
		})
	}
	if err := opened.Wait(); err != nil {
		t.Fatalf("open the watches: %v", err)
	}
	t.Logf("%d watches: %d -> %d descriptors, %d -> %d MiB", watches, before, g.descriptors(t), memory, g.memory(t))
	began := time.Now()
	if err := g.clients[0].Create(t.Context(), note("news", "1")); err != nil {
		t.Fatal(err)
	}
	if err := told.Wait(); err != nil {
		t.Errorf("each watch is told of the change: %v", err)
	}
	t.Logf("all of them were told within %s", time.Since(began).Round(time.Millisecond))
	cancel()
}
