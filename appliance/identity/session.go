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
	"time"
)

// AdminSession issues a client certificate for the administrator whose key is thrown away: nobody can use it over a connection.
// It authenticates requests within this process.
func (a *Authorities) AdminSession(now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
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
	a.mu.RLock()
	authority := a.Client
	a.mu.RUnlock()
	der, err := x509.CreateCertificate(rand.Reader, template, authority.Cert, key.Public(), authority.Key)
	if err != nil {
		return nil, fmt.Errorf("issue certificate of a session: %w", err)
	}

	return x509.ParseCertificate(der)
}
