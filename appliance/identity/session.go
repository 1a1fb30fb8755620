// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"time"
)

// AdminSession issues a client certificate for the administrator whose key is thrown away: nobody can use it over a connection.
// It authenticates requests within this process.
func (g *Garden) AdminSession(now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return nil, fmt.Errorf("issue certificate of a session: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("issue certificate of a session: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: AdminName, Organization: []string{AdminGroup}},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, g.ClientCA.Cert, key.Public(), g.ClientCA.Key)
	if err != nil {
		return nil, fmt.Errorf("issue certificate of a session: %w", err)
	}

	return x509.ParseCertificate(der)
}

// Certificate is the validity of a certificate.
type Certificate struct {
	// Name is the name of its file, without the suffix.
	Name string
	// NotBefore and NotAfter are the ends of its validity.
	NotBefore, NotAfter time.Time
	// Authority is set for certificate authorities.
	Authority bool
}

// Certificates returns the certificates of the garden: those that it renews at a start, and its authorities.
func (g *Garden) Certificates() []Certificate {
	var all []Certificate
	for _, c := range []KeyPair{g.Serving, g.Admin, g.FrontProxy} {
		all = append(all, Certificate{Name: strings.TrimSuffix(filepath.Base(c.File), ".pem"), NotBefore: c.Cert.NotBefore, NotAfter: c.Cert.NotAfter})
	}
	for _, a := range []Authority{g.ServerCA, g.ClientCA, g.FrontProxyCA} {
		all = append(all, Certificate{
			Name: strings.TrimSuffix(filepath.Base(a.CertFile), ".crt"), NotBefore: a.Cert.NotBefore, NotAfter: a.Cert.NotAfter, Authority: true,
		})
	}

	return all
}
