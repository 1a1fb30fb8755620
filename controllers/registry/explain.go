// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// PullError is what is wrong with something that was asked for, without a word of the registry.
type PullError struct{ Text string }

// Error implements error.
func (p *PullError) Error() string { return p.Text }

// Hints are what Explain says to do.
type Hints struct {
	// Credentials says where those are that the registry refuses; empty if there are none.
	Credentials string
	// GiveCredentials says what to do if credentials are missing, Trust if an authority is, TooMany after too many requests.
	GiveCredentials, Trust, TooMany string
	// TooLarge says that an answer is.
	TooLarge string
	// Timeout is the time for all requests together.
	Timeout time.Duration
}

// Explain says what is wrong and what to do about it. The error itself is not passed on: it can have the text of an answer, which may
// repeat credentials, or the address of a redirect, which may be a credential.
func Explain(err error, h Hints) *PullError {
	if known, ok := errors.AsType[*PullError](err); ok {
		return known
	}
	if text, ok := h.certificate(err); ok {
		return &PullError{text}
	}
	if answer, ok := errors.AsType[*transport.Error](err); ok {
		return &PullError{h.status(answer.StatusCode)}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &PullError{h.TooLarge}
	}
	return &PullError{h.connection(err)}
}

func (h Hints) status(status int) string {
	switch {
	case (status == http.StatusUnauthorized || status == http.StatusForbidden) && h.Credentials != "":
		return fmt.Sprintf("the registry refuses the credentials of %s, or has no such repository (status %d)", h.Credentials, status)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Sprintf("the registry wants credentials, or has no such repository (status %d): %s", status, h.GiveCredentials)
	case status == http.StatusNotFound:
		return "the registry does not have it: check repository, tag and digest"
	case status == http.StatusTooManyRequests:
		return "the registry got too many requests: " + h.TooMany
	default:
		return fmt.Sprintf("the registry answers with status %d", status)
	}
}

// certificate comes before what else there is: where the library falls back to plain HTTP, the error also has the answer to that.
func (h Hints) certificate(err error) (string, bool) {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the certificate of the registry is not signed by an authority that is trusted: " + h.Trust, true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate of the registry is not valid for its name or at this time", true
	}
	return "", false
}

// connection says why there was no answer that makes sense.
func (h Hints) connection(err error) string {
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "the registry does not offer TLS, and only one on this machine is asked without"
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("the registry did not answer in time; the whole pull may take %s", h.Timeout)
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "the name of the registry is not known, or that of a host that the registry refers to"
	}
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return "no connection to the registry: " + number.Error()
	}
	if errors.Is(err, errPlain) || errors.Is(err, errSentOn) {
		return "the registry refers to a place that is not trusted: without TLS, or for a request with credentials"
	}
	return "the registry sent something with another digest, or something that no registry sends"
}
