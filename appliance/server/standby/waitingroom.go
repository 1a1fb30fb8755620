// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// WaitingRoom answers requests while the datastore does not answer and there can be no API server. It needs no authentication: it tells
// everybody the same, without where the datastore is.
type WaitingRoom struct {
	borrowed *borrowedListener
	server   *http.Server
	served   chan struct{}
	place    kine.Place
	logged   bool
}

const (
	waitingHeaderLimit = 5 * time.Second
	// waitingText is in the form of /readyz.
	waitingText = "[-]terrarium/datastore failed: the datastore does not answer; the server starts once it does\nreadyz check failed\n"
)

// OpenWaitingRoom begins to answer the connections of a listener while the datastore at a place does not answer.
func OpenWaitingRoom(listener net.Listener, keys *identity.Garden, place kine.Place) (*WaitingRoom, error) {
	borrowed := &borrowedListener{Listener: listener}
	w, err := serveWaiting(borrowed, keys, waitingText)
	if err != nil {
		return nil, err
	}
	w.borrowed, w.place = borrowed, place

	return w, nil
}

// serveWaiting answers everybody with the same text.
func serveWaiting(listener net.Listener, keys *identity.Garden, text string) (*WaitingRoom, error) {
	if _, err := keys.Certificates.ServingCertificate(); err != nil {
		return nil, err
	}
	w := &WaitingRoom{served: make(chan struct{})}
	w.server = &http.Server{
		Handler: answerWaiting(text), ReadHeaderTimeout: waitingHeaderLimit, ErrorLog: log.New(io.Discard, "", 0),
		// The certificate changes with the authorities.
		TLSConfig: &tls.Config{
			MinVersion:     tls.VersionTLS12,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return keys.Certificates.ServingCertificate() },
		},
	}
	go func() {
		defer close(w.served)
		w.server.ServeTLS(listener, "", "") //nolint:errcheck,gosec // It ends when the room is closed.
	}()

	return w, nil
}

func answerWaiting(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/livez" {
			fmt.Fprintln(w, "ok") //nolint:errcheck // The client has gone.

			return
		}
		w.Header().Set("Retry-After", "2")
		w.Header().Set("Connection", "close")
		http.Error(w, text, http.StatusServiceUnavailable)
	})
}

// Log tells once why the datastore cannot be used.
func (w *WaitingRoom) Log(to logr.Logger, err error) {
	if !w.logged {
		to.Error(err, "The datastore cannot be used yet", "datastore", w.place.String())
	}
	w.logged = true
}

// Close ends all connections and gives the listener back.
func (w *WaitingRoom) Close() {
	w.borrowed.giveBack()
	w.server.Close() //nolint:errcheck,gosec // The listener is not closed.
	<-w.served
	w.borrowed.reset()
}

// borrowedListener is a listener that its server does not close.
type borrowedListener struct {
	net.Listener

	mutex sync.Mutex
	ended bool
}

type deadliner interface{ SetDeadline(t time.Time) error }

// Accept implements net.Listener.
func (l *borrowedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if !l.ended {
		return c, err
	}
	if err == nil {
		c.Close() //nolint:errcheck,gosec // Its client tries again.
	}

	return nil, errors.Join(net.ErrClosed, err)
}

// Close implements net.Listener.
func (*borrowedListener) Close() error { return nil }

// giveBack ends a call of Accept that waits.
func (l *borrowedListener) giveBack() {
	l.mutex.Lock()
	l.ended = true
	l.mutex.Unlock()
	if d, ok := l.Listener.(deadliner); ok {
		d.SetDeadline(time.Unix(1, 0)) //nolint:errcheck,gosec // It is open.
	}
}

func (l *borrowedListener) reset() {
	if d, ok := l.Listener.(deadliner); ok {
		d.SetDeadline(time.Time{}) //nolint:errcheck,gosec // It is open.
	}
}
