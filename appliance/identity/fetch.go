// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/util/cert"
)

const (
	// CAPath is the path at which a garden publishes its CA bundle to everybody.
	CAPath = "/cacerts"

	maxBundleSize = 1 << 20
	fetchTimeout  = 30 * time.Second
)

// FetchCA returns the CA bundle of the garden at server, an https URL, if it has the given hash and has signed the server's
// certificate. While the garden changes its authorities it publishes two: a hash from before is that of one of them, and then only this
// one is returned and has to have signed. The error wraps ErrCAMismatch or ErrServerCertificate if the server is not the garden with this
// hash.
func FetchCA(ctx context.Context, server, hash string) ([]byte, error) {
	if len(hash) != tokenHashLength {
		return nil, fmt.Errorf("fetch CA of %q: %w", server, ErrUnpinned)
	}
	return fetch(ctx, server, func(bundle []byte) ([]byte, error) {
		if pinned := pinnedBy(bundle, hash); pinned != nil {
			return pinned, nil
		}
		return nil, fmt.Errorf("%w: %q has a CA with hash %s, but the token was made for %s; the address is wrong, the token is for another garden, "+
			"the connection is intercepted, or the garden has changed its certificate authorities since: then make a new token with terrarium token create",
			ErrCAMismatch, server, HashCA(bundle), hash)
	})
}

// pinnedBy returns what of a bundle has the hash: all of it, or one of its certificates; nil if there is no such part. The rest of the bundle
// is not trusted, because anybody could have added it.
func pinnedBy(bundle []byte, hash string) []byte {
	parts := [][]byte{bundle}
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		parts = append(parts, pem.EncodeToMemory(block))
	}
	for _, part := range parts {
		if subtle.ConstantTimeCompare([]byte(HashCA(part)), []byte(hash)) == 1 {
			return part
		}
	}

	return nil
}

// FetchUnpinnedCA returns the CA bundle of the server, without verification. It does not protect against attackers who can
// answer in its place.
func FetchUnpinnedCA(ctx context.Context, server string) ([]byte, error) {
	return fetch(ctx, server, func(bundle []byte) ([]byte, error) { return bundle, nil })
}

func fetch(ctx context.Context, server string, trusted func(bundle []byte) ([]byte, error)) ([]byte, error) {
	u, err := caURL(server)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	bundle, chain, err := get(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("fetch CA of %q: %w", server, err)
	}
	if _, err := cert.ParseCertsPEM(bundle); err != nil {
		return nil, fmt.Errorf("fetch CA of %q: the response does not contain a certificate; check that this is the address of a garden: %w", server, err)
	}
	if bundle, err = trusted(bundle); err != nil {
		return nil, err
	}
	certs, err := cert.ParseCertsPEM(bundle)
	if err != nil {
		return nil, fmt.Errorf("fetch CA of %q: %w", server, err)
	}
	if err := verifyServer(u.Hostname(), certs, chain); err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrServerCertificate, server, err)
	}
	return bundle, nil
}

func caURL(server string) (*url.URL, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("address of the garden: %w", err)
	}
	if u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("address of the garden: %q is not of the form https://host:port", server)
	}
	return u.JoinPath(CAPath), nil
}

// get returns the body of the response and the certificates of the server, without verifying them.
func get(ctx context.Context, u *url.URL) ([]byte, []*x509.Certificate, error) {
	transport := &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // nothing is known about the server yet; the caller verifies what comes back
		},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // only read from
	if resp.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the response is %s; check that this is the address of a garden", resp.Status)
	}
	if resp.TLS == nil {
		return nil, nil, errors.New("the connection does not use TLS")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBundleSize+1))
	if err != nil {
		return nil, nil, err
	}
	if len(body) > maxBundleSize {
		return nil, nil, fmt.Errorf("the response has more than %d bytes", maxBundleSize)
	}
	return body, resp.TLS.PeerCertificates, nil
}

func verifyServer(host string, authorities, chain []*x509.Certificate) error {
	if len(chain) == 0 {
		return errors.New("the server does not present a certificate")
	}
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	for _, c := range authorities {
		roots.AddCert(c)
	}
	for _, c := range chain[1:] {
		intermediates.AddCert(c)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates, DNSName: host})
	return err
}
