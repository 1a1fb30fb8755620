// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"
)

const (
	// backdate makes a certificate valid for machines whose clock is a little behind.
	backdate = 5 * time.Minute

	authorityValidity   = 10 * 365 * 24 * time.Hour
	certificateValidity = 365 * 24 * time.Hour

	// authorityRSABits is for a key that is used for ten years.
	authorityRSABits = 3072
)

// issuer signs certificates.
type issuer struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// issuerOf reads the certificate and the key of an authority.
func issuerOf(authority *Certificate) (issuer, error) {
	pair, err := tls.X509KeyPair(authority.Certificate, authority.Key)
	if err != nil {
		return issuer{}, fmt.Errorf("read authority %q: %w", authority.SecretName, err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return issuer{}, fmt.Errorf("read authority %q: a key of type %T cannot sign", authority.SecretName, pair.PrivateKey)
	}
	return issuer{certificate: pair.Leaf, key: key}, nil
}

// issue signs a certificate for a key. It does not outlive the certificate of its issuer.
func (i issuer) issue(template *x509.Certificate, key crypto.Signer, now time.Time) (*Certificate, time.Time, error) {
	template.NotBefore, template.BasicConstraintsValid = now.Add(-backdate).UTC(), true
	if template.NotAfter.After(i.certificate.NotAfter) {
		template.NotAfter = i.certificate.NotAfter
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.certificate, key.Public(), i.key)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("create certificate %q: %w", template.Subject.CommonName, err)
	}
	encoded, err := encodeKey(key)
	return &Certificate{Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), Key: encoded}, template.NotAfter, err
}

func newECDSA() (crypto.Signer, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func newRSA(bits int) (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		return nil, fmt.Errorf("generate a key: %w", err)
	}
	return key, nil
}

// encodeKey writes a key in PEM, RSA keys in the older of their two forms, which every program reads.
func encodeKey(key crypto.Signer) ([]byte, error) {
	if key, ok := key.(*rsa.PrivateKey); ok {
		return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), nil
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
