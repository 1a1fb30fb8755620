// SPDX-License-Identifier: Apache-2.0

package gardenaccess

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// The ways in which a garden can turn somebody away. Errors from Explain are one of them or unexplained.
var (
	// ErrUnreachable says that no connection came about.
	ErrUnreachable = errors.New("the garden cannot be reached")
	// ErrOtherServer says that whoever answered could not prove to be the garden.
	ErrOtherServer = errors.New("the server presents a certificate that the garden's certificate authority did not sign")
	// ErrBadCertificate says that the garden's certificate is not valid, for example because it is outdated.
	ErrBadCertificate = errors.New("the garden's certificate is not valid")
	// ErrOtherName says that the garden is not known by the name or address that was used.
	ErrOtherName = errors.New("the garden's certificate is for other names than the one used to reach it")
	// ErrUnauthorized says that the garden does not know these credentials, or not any more.
	ErrUnauthorized = errors.New("the garden does not accept the credentials: they are unknown or have expired")
	// ErrForbidden says that the garden knows the credentials, but they may not do this.
	ErrForbidden = errors.New("the garden knows the credentials, but they lack the permission")
)

// Explain says in words of this product what an error of a request to the garden means. Errors it does not know stay
// as they are.
func Explain(server string, err error) error {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		verify   *tls.CertificateVerificationError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &hostname):
		return fmt.Errorf("%s: %w: %w", server, ErrOtherName, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s: %w: %w", server, ErrOtherServer, err)
	case errors.As(err, &verify):
		return fmt.Errorf("%s: %w: %w", server, ErrBadCertificate, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s: %w: %w", server, ErrUnauthorized, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: %w: %w", server, ErrForbidden, err)
	case !errors.Is(err, ErrUnreachable) && noAnswer(err):
		return fmt.Errorf("%s: %w: %w", server, ErrUnreachable, err)
	default:
		return err
	}
}

// noAnswer tells whether the connection failed, or the garden answered that it cannot answer.
func noAnswer(err error) bool {
	var (
		connection *net.OpError
		dns        *net.DNSError
		status     apierrors.APIStatus
	)
	if errors.As(err, &status) {
		return status.Status().Code >= http.StatusInternalServerError
	}
	return errors.As(err, &connection) || errors.As(err, &dns) || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) || utilnet.IsTimeout(err)
}

// refused tells whether the garden does not accept the credentials, or not for this.
func refused(err error) bool {
	return errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrForbidden)
}

// temporary tells whether another try of the same request may succeed although nobody changes anything here.
func temporary(err error) bool {
	return errors.Is(err, ErrUnreachable) || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err)
}
