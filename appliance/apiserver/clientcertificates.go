// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

// certificatesRemembered is how many client certificates are remembered, some 2 KiB each.
const certificatesRemembered = 4096

// certificates authenticates clients by their certificates and remembers which it has verified: the library verifies a certificate with
// each request, which is a fifth of what a get takes. What is remembered holds for the same authorities only, and until the
// first certificate of its chain expires. A certificate that is revoked is refused elsewhere, with each request.
type certificates struct {
	// options returns the authorities of now. Authorities that have changed are another pool.
	options x509request.VerifyOptionFunc
	// next decides about all requests without a certificate of these authorities.
	next  authenticator.Request
	clock clock.PassiveClock
	known *lru.Cache
}

// verified is a certificate that was verified.
type verified struct {
	response *authenticator.Response
	roots    *x509.CertPool
	until    time.Time
}

func newCertificates(options x509request.VerifyOptionFunc, c clock.PassiveClock, next authenticator.Request) *certificates {
	return &certificates{options: options, clock: c, next: next, known: lru.New(certificatesRemembered)}
}

// AuthenticateRequest implements authenticator.Request.
func (c *certificates) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return c.next.AuthenticateRequest(r)
	}
	options, ok := c.options()
	if !ok {
		return c.next.AuthenticateRequest(r)
	}
	key := fingerprint(r.TLS.PeerCertificates)
	if found, ok := c.known.Get(key); ok {
		if v, ok := found.(verified); ok && v.roots == options.Roots && c.clock.Now().Before(v.until) {
			return v.response, true, nil
		}
	}
	v, ok := c.verify(r, options)
	if !ok {
		// A certificate of another authority, or one that is refused, with the reason.
		return c.next.AuthenticateRequest(r)
	}
	c.known.Add(key, v)

	return v.response, true, nil
}

// verify does what the library does, and notes the chain of certificates.
func (c *certificates) verify(r *http.Request, options x509.VerifyOptions) (verified, bool) {
	v := verified{roots: options.Roots}
	options.CurrentTime = c.clock.Now()
	user := func(chain []*x509.Certificate) (*authenticator.Response, bool, error) {
		v.until = chain[0].NotAfter
		for _, certificate := range chain[1:] {
			if certificate.NotAfter.Before(v.until) {
				v.until = certificate.NotAfter
			}
		}

		return x509request.CommonNameUserConversion.User(chain)
	}
	once := x509request.New(options, x509request.UserConversionFunc(user))
	response, ok, err := group.NewAuthenticatedGroupAdder(once).AuthenticateRequest(r)
	v.response = response

	return v, ok && err == nil
}

// fingerprint tells sets of certificates apart that clients have presented.
func fingerprint(presented []*x509.Certificate) [sha256.Size]byte {
	if len(presented) == 1 {
		return sha256.Sum256(presented[0].Raw)
	}
	h := sha256.New()
	for _, certificate := range presented {
		h.Write(certificate.Raw) // Each one tells its length.
	}

	return [sha256.Size]byte(h.Sum(nil))
}

// withCertificates puts certificates in front of the authenticator of the library. The file of the authorities is read again when it
// changes.
func (c *completed) withCertificates(server *genericapiserver.Config, next authenticator.Request) (authenticator.Request, error) {
	authorities, err := dynamiccertificates.NewDynamicCAContentFromFile("client-ca-remembered", c.Identity.Authorities.Client.CertFile)
	if err != nil {
		return nil, fmt.Errorf("read authorities of clients: %w", err)
	}
	server.AddPostStartHookOrDie("terrarium/client-ca", func(hook genericapiserver.PostStartHookContext) error {
		go authorities.Run(hook, 1)

		return nil
	})

	return newCertificates(authorities.VerifyOptions, clock.RealClock{}, next), nil
}
