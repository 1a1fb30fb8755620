// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
)

const (
	// connectTimeout, handshakeTimeout and answerTimeout bound the parts of a request.
	connectTimeout   = 10 * time.Second
	handshakeTimeout = 10 * time.Second
	answerTimeout    = 20 * time.Second
	// maxHeader is the size of the headers of an answer.
	maxHeader = 64 << 10
)

var (
	errPlain  = errors.New("a request without TLS")
	errSentOn = errors.New("a redirect of a request that sends something")
)

// Config says how a registry is reached.
type Config struct {
	// Registry is the one.
	Registry name.Registry
	// Roots are the authorities that its certificate may be signed by; nil for those of the system.
	Roots *x509.CertPool
	// TLS has it reached with TLS wherever it is. Otherwise one on this machine may do without.
	TLS bool
	// Limit is the size of the largest answer that is read.
	Limit int64
}

// Transport makes no requests without TLS, except to a registry on this machine, reads no more of an answer than is allowed, and follows no
// redirect that gives up TLS, or that is of a request with a body, which would be sent to another host.
type Transport struct {
	inner *http.Transport
	// plain allows requests without TLS to this machine.
	plain bool
	limit atomic.Int64
}

// NewTransport returns a transport for the requests to one registry, and to wherever it redirects.
func NewTransport(c Config) *Transport {
	at := url.URL{Host: c.Registry.RegistryStr()}
	t := &Transport{
		plain: !c.TLS && onThisMachine(at.Hostname()),
		inner: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.Roots},
			TLSHandshakeTimeout:    handshakeTimeout,
			ResponseHeaderTimeout:  answerTimeout,
			MaxResponseHeaderBytes: maxHeader,
			DisableCompression:     true, // An answer that was packed could be much larger than what was sent.
			ForceAttemptHTTP2:      true,
		},
	}
	t.Limit(c.Limit)
	return t
}

// Limit sets the size of the largest answer of requests from now on.
func (t *Transport) Limit(size int64) { t.limit.Store(size) }

// Close ends the connections that are not in use.
func (t *Transport) Close() { t.inner.CloseIdleConnections() }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := t.check(request); err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	response, err := t.inner.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, t.limit.Load())
	return response, nil
}

func (t *Transport) check(request *http.Request) error {
	if request.URL.Scheme != "https" && (!t.plain || !onThisMachine(request.URL.Hostname())) {
		return errPlain
	}
	redirect := request.Response
	switch {
	case redirect == nil:
		return nil
	case request.Body != nil:
		return errSentOn
	case request.URL.Scheme != "https" && redirect.Request != nil && redirect.Request.URL.Scheme == "https":
		return errPlain
	default:
		return nil
	}
}

func onThisMachine(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
