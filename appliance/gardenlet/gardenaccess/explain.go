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

// The reasons for which a garden cannot be used. Explain wraps errors in one of them, or returns them unchanged.
var (
	// ErrUnreachable says that no connection could be made.
	ErrUnreachable = errors.New("the garden cannot be reached")
	// ErrOtherServer says that the server that answered has no certificate of the garden's CA.
	ErrOtherServer = errors.New("the server presents a certificate that the garden's certificate authority did not sign; " +
		"if the garden has changed its authorities meanwhile, join the seed again with a new token")
	// ErrBadCertificate says that the garden's certificate is not valid, for example because it has expired.
	ErrBadCertificate = errors.New("the garden's certificate is not valid")
	// ErrOtherName says that the garden's certificate is not valid for the name or address that was used.
	ErrOtherName = errors.New("the garden's certificate is for other names than the one used to reach it")
	// ErrUnauthorized says that the garden does not know these credentials, or no longer accepts them.
	ErrUnauthorized = errors.New("the garden does not accept the credentials: they are unknown or have expired")
	// ErrForbidden says that the garden accepts the credentials, but they lack a permission.
	ErrForbidden = errors.New("the garden knows the credentials, but they lack the permission")
)

// Explain wraps an error of a request to the garden in the one that explains it. Other errors are returned unchanged.
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

// noAnswer reports whether the connection failed, or the garden answered that it is not available.
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

// refused reports whether the garden refused the credentials or the request.
func refused(err error) bool {
	return errors.Is(err, ErrUnauthorized) || errors.Is(err, ErrForbidden)
}

// temporary reports whether the same request may succeed later without a change on this side.
func temporary(err error) bool {
	return errors.Is(err, ErrUnreachable) || apierrors.IsTooManyRequests(err) || apierrors.IsConflict(err)
}
