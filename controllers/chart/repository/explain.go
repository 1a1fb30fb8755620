// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// problem is what is wrong with a pull, without a word of the registry.
type problem struct{ text string }

// Error implements error.
func (p *problem) Error() string { return p.text }

func tooLarge() *problem { return &problem{fmt.Sprintf("it is larger than %d MiB", MaxChart>>20)} }

// explain says what is wrong and what to do about it. The error itself is not passed on: it can have the text of an answer, which may
// repeat credentials, or the address of a redirect, which may be a credential.
func (p *pull) explain(err error) error {
	if known, ok := errors.AsType[*problem](err); ok {
		return known
	}
	if text, ok := explainCertificate(err); ok {
		return &problem{text}
	}
	if answer, ok := errors.AsType[*transport.Error](err); ok {
		return &problem{p.explainStatus(answer.StatusCode)}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge()
	}
	return &problem{explainConnection(err)}
}

func (p *pull) explainStatus(status int) string {
	switch {
	case (status == http.StatusUnauthorized || status == http.StatusForbidden) && p.known:
		return fmt.Sprintf("the registry refuses the credentials of the pull Secret, or has no such repository (status %d)", status)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Sprintf("the registry wants credentials, or has no such repository (status %d): name a Secret with credentials in pullSecretRef", status)
	case status == http.StatusNotFound:
		return "the registry does not have it: check repository, tag and digest"
	case status == http.StatusTooManyRequests:
		return "the registry got too many requests: give the digest of the chart, with which it is asked only once"
	default:
		return fmt.Sprintf("the registry answers with status %d", status)
	}
}

// explainCertificate comes before what else there is: where the library falls back to plain HTTP, the error also has the answer to that.
func explainCertificate(err error) (string, bool) {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the certificate of the registry is not signed by an authority that is trusted: put the certificate of its authority into a Secret and name it in caBundleSecretRef", true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the certificate of the registry is not valid for its name or at this time", true
	}
	return "", false
}

// explainConnection says why there was no answer that makes sense.
func explainConnection(err error) string {
	if errors.Is(err, http.ErrSchemeMismatch) {
		return "the registry does not offer TLS, and only one on this machine is asked without"
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("the registry did not answer in time; the whole pull may take %s", timeout)
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
