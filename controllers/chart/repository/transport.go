// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
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
	errPlain       = errors.New("a request without TLS")
	errSentOn      = errors.New("a redirect of a request that sends something")
	errAuthorities = errors.New("the Secret with the certificates of the registry has no certificate in PEM")
)

// guard is a transport that makes no requests without TLS, except to a registry on this machine, reads no more of an answer than a chart
// may have, and follows no redirect of a request with a body, which would be sent to another host.
type guard struct {
	inner *http.Transport
	// plain allows requests without TLS to this machine.
	plain bool
}

// newGuard trusts the given authorities, or those of the system if there are none. A registry for which authorities are given is to be
// reached with TLS, wherever it is.
func newGuard(registry name.Registry, authorities []byte) (*guard, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authorities != nil {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(authorities) {
			return nil, errAuthorities
		}
	}
	at := url.URL{Host: registry.RegistryStr()}
	return &guard{
		plain: authorities == nil && onThisMachine(at.Hostname()),
		inner: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    handshakeTimeout,
			ResponseHeaderTimeout:  answerTimeout,
			MaxResponseHeaderBytes: maxHeader,
			DisableCompression:     true, // An answer that was packed could be much larger than what was sent.
			ForceAttemptHTTP2:      true,
		},
	}, nil
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := g.check(request); err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	response, err := g.inner.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, MaxChart)
	return response, nil
}

func (g *guard) check(request *http.Request) error {
	if request.URL.Scheme != "https" && (!g.plain || !onThisMachine(request.URL.Hostname())) {
		return errPlain
	}
	if redirected := request.Response != nil; redirected && request.Body != nil {
		return errSentOn
	}
	return nil
}

func onThisMachine(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
