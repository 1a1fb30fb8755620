// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer speaks HTTP/2 in frames, and not always as it should.
type peer struct {
	*http2.Framer

	conn    *tls.Conn
	headers bytes.Buffer
	encoder *hpack.Encoder
	// closed has the error with which the server's side ended, and what it said before.
	closed chan error
	reason http2.ErrCode
	// answered is closed when the server has answered a ping, and with it read all that came before.
	answered chan struct{}
}

func (g *garden) peer(t *testing.T) *peer {
	t.Helper()
	p := &peer{conn: tls.Client(g.connect(t), g.trusting("h2")), closed: make(chan error, 1), answered: make(chan struct{})}
	if err := p.conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Framer, p.encoder = http2.NewFramer(p.conn, p.conn), hpack.NewEncoder(&p.headers)
	if _, err := p.conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteSettings(); err != nil {
		t.Fatal(err)
	}

	return p
}

// read reads what the server says until it closes the connection.
func (p *peer) read() {
	for {
		frame, err := p.ReadFrame()
		if err != nil {
			p.closed <- err

			return
		}
		switch f := frame.(type) {
		case *http2.GoAwayFrame:
			p.reason = f.ErrCode
		case *http2.PingFrame:
			if f.IsAck() {
				close(p.answered)
			}
		}
	}
}

// processed waits until the server has read everything, or has ended the connection.
func (p *peer) processed(t *testing.T) error {
	t.Helper()
	if err := p.WritePing(false, [8]byte{'d', 'o', 'n', 'e'}); err != nil {
		return err
	}
	select {
	case <-p.answered:
		return nil
	case err := <-p.closed:
		return fmt.Errorf("%w (%s)", err, p.reason)
	case <-time.After(patience):
		t.Error("the server answers or ends the connection")

		return nil
	}
}

// block encodes the header of a request.
func (p *peer) block(fields ...hpack.HeaderField) []byte {
	p.headers.Reset()
	request := []hpack.HeaderField{
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "garden"}, {Name: ":path", Value: "/api/v1/namespaces/default/configmaps"},
	}
	for _, field := range append(request, fields...) {
		_ = p.encoder.WriteField(field)
	}

	return p.headers.Bytes()
}

// open begins a request.
func (p *peer) open(stream uint32) error {
	return p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: p.block(), EndStream: true, EndHeaders: true})
}

// TestHTTP2Abuse does to the server what attacks on other servers have done. It ends such a connection, or bears it.
//
//nolint:paralleltest // It looks at the descriptors of the server.
func TestHTTP2Abuse(t *testing.T) {
	for name, abuse := range map[string]struct {
		frames func(p *peer) error
		// reads says that the client reads what the server sends.
		reads bool
		// ends says that the server has to end the connection.
		ends bool
	}{
		"RapidReset": {reads: true, frames: func(p *peer) error {
			for stream := uint32(1); stream < 100_000; stream += 2 {
				if err := errors.Join(p.open(stream), p.WriteRSTStream(stream, http2.ErrCodeCancel)); err != nil {
					return err
				}
			}

			return nil
		}},
		"EndlessHeaders": {reads: true, ends: true, frames: func(p *peer) error {
			err := p.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.block()})
			for n := 0; err == nil && n < 1_000_000; n++ {
				p.headers.Reset()
				_ = p.encoder.WriteField(hpack.HeaderField{Name: "x", Value: "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy", Sensitive: true})
				err = p.WriteContinuation(1, false, p.headers.Bytes())
			}

			return err
		}},
		"TooManyStreams": {reads: true, frames: func(p *peer) error {
			for stream := uint32(1); stream < 20_000; stream += 2 {
				if err := p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: p.block(), EndHeaders: true}); err != nil {
					return err
				}
			}

			return nil
		}},
		"PingsWithoutReading": {ends: true, frames: func(p *peer) error {
			for n := range 10_000_000 {
				if err := p.WritePing(false, [8]byte{byte(n)}); err != nil {
					return err
				}
			}

			return nil
		}},
		// One answer to many is enough, so nothing piles up.
		"SettingsWithoutReading": {frames: func(p *peer) error {
			for range 500_000 {
				if err := p.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 16384}); err != nil {
					return err
				}
			}

			return nil
		}},
		"NoWindow": {reads: true, frames: func(p *peer) error {
			if err := p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
				return err
			}
			for stream := uint32(1); stream < 400; stream += 2 {
				if err := p.open(stream); err != nil {
					return err
				}
			}

			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := start(t, t.TempDir())
			other := g.witness(t, "http2")
			before, memory := g.descriptors(t), g.memory(t)
			p := g.peer(t)
			if abuse.reads {
				go p.read()
			}
			began := time.Now()
			if err := p.conn.SetWriteDeadline(began.Add(patience)); err != nil {
				t.Fatal(err)
			}
			err := abuse.frames(p)
			if err == nil && abuse.reads {
				err = p.processed(t)
			}
			ended := err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
			if abuse.ends && !ended {
				t.Errorf("the server ends the connection: got %v", err)
			}
			t.Logf("%s, ended by the server: %v (%v); %d -> %d MiB", time.Since(began).Round(time.Millisecond), ended, err, memory, g.memory(t))
			other.end(t)
			_ = p.conn.NetConn().(*net.TCPConn).SetLinger(0)
			p.conn.NetConn().Close() //nolint:errcheck // Nothing is lost.
			g.settled(t, before)
		})
	}
}
