// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/controllers/guard"
)

const (
	dialTimeout = 5 * time.Second
	keepAlive   = 30 * time.Second
	// pause is how long a server is left alone that did not answer.
	pause = 5 * time.Second

	// answerLimit is more than the machines of a shoot need, errorLimit more than a server has to say about what went wrong. That text gets
	// into the status of the shoot.
	answerLimit = 16 << 20
	errorLimit  = 8 << 10
)

// dialer connects to addresses that users may name, in whatever way they name them.
func dialer(refused []netip.Prefix) func(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, ControlContext: guard.Guard{Networks: refused}.Control}).DialContext
}

// limiter bounds what a server can do to its client by its answers, and by having none: while one that did not answer is left alone,
// nobody who waits for another one has to wait for it.
type limiter struct {
	next   http.RoundTripper
	clock  clock.PassiveClock
	failed atomic.Pointer[failure]
}

type failure struct {
	at  time.Time
	err error
}

// RoundTrip sends a request. An answer that is not one of an API server is not passed on: it may be that of a program that the user does
// not reach.
func (l *limiter) RoundTrip(request *http.Request) (*http.Response, error) {
	if last := l.failed.Load(); last != nil && l.clock.Since(last.at) < pause {
		return nil, fmt.Errorf("no answer a moment ago: %w", last.err)
	}
	response, err := l.next.RoundTrip(request)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			l.failed.Store(&failure{at: l.clock.Now(), err: err})
		}
		return nil, err //nolint:wrapcheck // The client says what it wanted.
	}
	l.failed.Store(nil)
	// The client would wait as long as it says.
	response.Header.Del("Retry-After")
	limit := int64(errorLimit)
	switch {
	case !spoken(response.Header.Get("Content-Type")):
		_ = response.Body.Close()
		return nil, fmt.Errorf("the server answers %d, but not like an API server", response.StatusCode)
	case response.StatusCode < http.StatusMultipleChoices:
		limit = answerLimit
	}
	if request.URL.Query().Get("watch") == "" {
		response.Body = &limited{ReadCloser: response.Body, left: limit}
	}
	return response, nil
}

// spoken reports whether a content type is one of those that API servers use.
func spoken(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasPrefix(media, "application/vnd.kubernetes.protobuf"))
}

// limited fails when more is read than allowed.
type limited struct {
	io.ReadCloser

	left int64
}

// Read reads until the limit.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errors.New("the server answers with too much")
	}
	if int64(len(p)) > l.left {
		p = p[:l.left]
	}
	n, err := l.ReadCloser.Read(p)
	l.left -= int64(n)
	return n, err //nolint:wrapcheck // The end has to stay io.EOF.
}
