// SPDX-License-Identifier: Apache-2.0

package plant

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/terrarium-garden/terrarium/controllers/guard"
)

// Limits bound a look at a cluster.
type Limits struct {
	// Call is the time that one request may take, with everything that belongs to it, and Look that of all requests of a look.
	Call, Look time.Duration
	// Page is the greatest number of bytes in an answer about nodes. Other answers are smaller.
	Page int64
}

// DefaultLimits are the limits in a garden. A page of nodes of ordinary size has a tenth of the bytes.
func DefaultLimits() Limits {
	return Limits{Call: 4 * time.Second, Look: 10 * time.Second, Page: 4 << 20}
}

const (
	smallAnswer = 64 << 10
	headerBytes = 64 << 10
)

// The errors of requests are for users. They say as little about the network of the garden as helps: what a server said or why a
// connection failed would tell strangers what is there.
var (
	errUnreachable = errors.New("it cannot be reached")
	errUntrusted   = errors.New("its certificate is not trusted by the kubeconfig")
	errSlow        = errors.New("it does not answer in time")
	errLarge       = errors.New("its answer is too large")
	errGarbled     = errors.New("its answer is not that of Kubernetes")
)

// session is a connection to one cluster for one look.
type session struct {
	access *access
	client *http.Client
	limits Limits
}

// open prepares a session. Nothing of it is shared with other sessions: there is no proxy, no cookie, and one connection, which
// close ends.
func open(to *access, keep guard.Guard, limits Limits) *session {
	// Less time than a call has, so that a connection that takes too long is told as what it is.
	dialer := &net.Dialer{Timeout: limits.Call * 3 / 4, KeepAlive: -1, ControlContext: keep.Control}
	return &session{access: to, limits: limits, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSClientConfig: to.tls, TLSHandshakeTimeout: limits.Call,
			// An empty map turns HTTP/2 off, whose frames have no limits here.
			TLSNextProto:       map[string]func(string, *tls.Conn) http.RoundTripper{},
			DisableCompression: true, MaxConnsPerHost: 1, MaxIdleConns: 1, MaxResponseHeaderBytes: headerBytes,
		},
	}}
}

func (s *session) close() { s.client.CloseIdleConnections() }

// get reads one path. The status is 0 if there is no answer.
func (s *session) get(ctx context.Context, path string, query url.Values, limit int64) ([]byte, int, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.Call)
	defer cancel()
	target := s.access.server.JoinPath(path)
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, 0, errServer
	}
	request.Header.Set("Accept", "application/json, */*;q=0.5")
	request.Header.Set("User-Agent", "terrarium")
	s.access.authenticate(request)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, 0, classify(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil {
		// A server that learns of the end of the time first can still end its answer properly.
		err = ctx.Err()
	}
	switch {
	case err != nil:
		return nil, response.StatusCode, classify(err)
	case int64(len(body)) > limit:
		return nil, response.StatusCode, errLarge
	}
	return body, response.StatusCode, nil
}

// classify replaces an error of the network by one for users.
func classify(err error) error {
	var timeout net.Error
	dial, dialed := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, guard.ErrForbidden):
		return guard.ErrForbidden
	case dialed && dial.Op == "dial":
		// Who refuses a connection and who drops it is not for strangers to know.
		return errUnreachable
	case isUntrusted(err):
		return errUntrusted
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errSlow
	default:
		return errUnreachable
	}
}

func isUntrusted(err error) bool {
	_, verification := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, hostname := errors.AsType[x509.HostnameError](err)
	return verification || authority || hostname
}

// answered says that a server answered something else than expected.
func answered(path string, status int) error {
	return fmt.Errorf("GET %s is answered with status %d", path, status)
}
