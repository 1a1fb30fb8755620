// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net/http"
	"slices"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	clocktesting "k8s.io/utils/clock/testing"
)

// ca is an authority of clients.
type ca struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newCA(t *testing.T, until time.Time) ca {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, NotBefore: until.Add(-100 * time.Hour), NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, certificate := sign(t, template, ca{certificate: template})

	return ca{certificate: certificate, key: key}
}

func (c ca) client(t *testing.T, name string, until time.Time) *x509.Certificate {
	t.Helper()
	_, certificate := sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name, Organization: []string{"gardeners"}},
		NotBefore: until.Add(-50 * time.Hour), NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, c)

	return certificate
}

func (c ca) options() x509.VerifyOptions {
	roots := x509.NewCertPool()
	roots.AddCert(c.certificate)

	return x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
}

func sign(t *testing.T, template *x509.Certificate, by ca) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer := by.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}

	return key, certificate
}

// unsigned is a certificate whose signature would not be accepted if it was verified.
func unsigned(of *x509.Certificate) *x509.Certificate {
	broken := *of
	broken.Signature = slices.Clone(of.Signature)
	broken.Signature[len(broken.Signature)-1] ^= 1

	return &broken
}

var errRefused = errors.New("refused")

// TestCertificatesRemembered: a certificate that was verified is not verified again, until it or its authority expires, or the authorities
// change. All else is left to the next authenticator.
func TestCertificatesRemembered(t *testing.T) {
	t.Parallel()
	now := time.Now()
	authority, other := newCA(t, now.Add(10*time.Hour)), newCA(t, now.Add(10*time.Hour))
	short := newCA(t, now.Add(time.Hour))
	rose := authority.client(t, "rose", now.Add(2*time.Hour))
	old := authority.client(t, "old", now.Add(-time.Hour))
	heir := short.client(t, "heir", now.Add(5*time.Hour))
	first, brief := authority.options(), short.options()

	for name, tc := range map[string]struct {
		seen, shown   *x509.Certificate
		before, after x509.VerifyOptions
		later         time.Duration
		want          string
	}{
		"First":            {shown: rose, after: first, want: "rose"},
		"Remembered":       {seen: rose, before: first, shown: unsigned(rose), after: first, want: "rose"},
		"NeverVerified":    {shown: unsigned(rose), after: first},
		"Expired":          {seen: rose, before: first, shown: rose, after: first, later: 3 * time.Hour},
		"JustBefore":       {seen: rose, before: first, shown: rose, after: first, later: 110 * time.Minute, want: "rose"},
		"AuthorityExpired": {seen: heir, before: brief, shown: heir, after: brief, later: 2 * time.Hour},
		"AuthorityGone":    {seen: rose, before: first, shown: rose, after: other.options()},
		"AuthorityAdded":   {seen: rose, before: first, shown: rose, after: authority.options(), want: "rose"},
		"ReadAgain":        {seen: rose, before: first, shown: unsigned(rose), after: authority.options()},
		"Another":          {seen: rose, before: first, shown: unsigned(authority.client(t, "rose", now.Add(2*time.Hour))), after: first},
		"ExpiredBefore":    {shown: old, after: first},
		"NoCertificate":    {seen: rose, before: first, after: first},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := clocktesting.NewFakePassiveClock(now)
			options := tc.before
			next := authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) { return nil, false, errRefused })
			c := newCertificates(func() (x509.VerifyOptions, bool) { return options, options.Roots != nil }, clock, next)
			if tc.seen != nil {
				if _, ok, err := c.AuthenticateRequest(shows(tc.seen)); !ok || err != nil {
					t.Fatalf("first request: %t, %v", ok, err)
				}
			}
			options = tc.after
			clock.SetTime(now.Add(tc.later))
			response, ok, err := c.AuthenticateRequest(shows(tc.shown))
			if tc.want == "" {
				if ok || !errors.Is(err, errRefused) {
					t.Errorf("request: got %v, %v, want that the next authenticator decides", response, err)
				}

				return
			}
			if !ok || err != nil || response.User.GetName() != tc.want ||
				!slices.Equal(response.User.GetGroups(), []string{"gardeners", "system:authenticated"}) {
				t.Errorf("request: got %+v, %t, %v, want %s", response, ok, err, tc.want)
			}
		})
	}
}

func shows(certificate *x509.Certificate) *http.Request {
	r := &http.Request{Header: http.Header{}}
	if certificate != nil {
		r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}}
	}

	return r
}
