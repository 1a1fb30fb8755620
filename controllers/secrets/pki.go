// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

const (
	// backdate makes a certificate valid for machines whose clock is a little behind.
	backdate = 5 * time.Minute

	authorityValidity   = 10 * 365 * 24 * time.Hour
	certificateValidity = 365 * 24 * time.Hour

	// authorityRSABits is for a key that is good for ten years.
	authorityRSABits = 3072

	pemRSA    = "RSA PRIVATE KEY"
	pemEC     = "EC PRIVATE KEY"
	pemPublic = "PUBLIC KEY"
)

// leaf is what a certificate says.
type leaf struct {
	commonName    string
	organizations []string
	dnsNames      []string
	ips           []net.IP
	usages        []x509.ExtKeyUsage
	validity      time.Duration
}

// pair is a certificate and its key, in PEM.
type pair struct {
	certificate []byte
	key         []byte
}

// newKey makes the key of an authority or of a certificate.
type newKey func(random io.Reader) (crypto.Signer, error)

func newECDSA(random io.Reader) (crypto.Signer, error) {
	return ecdsa.GenerateKey(elliptic.P256(), random)
}

func newRSA(random io.Reader) (crypto.Signer, error) {
	return rsa.GenerateKey(random, authorityRSABits)
}

func newAuthority(random io.Reader, generate newKey, commonName string, now time.Time) (pair, time.Time, error) {
	key, err := generate(random)
	if err != nil {
		return pair{}, time.Time{}, fmt.Errorf("generate a key: %w", err)
	}
	template, err := template(random, commonName, now, authorityValidity)
	if err != nil {
		return pair{}, time.Time{}, err
	}
	template.IsCA = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(random, template, template, key.Public(), key)
	if err != nil {
		return pair{}, time.Time{}, fmt.Errorf("create certificate %q: %w", commonName, err)
	}
	p, err := encode(der, key)
	return p, template.NotAfter, err
}

func (p pair) issue(random io.Reader, l leaf, now time.Time) (pair, time.Time, error) {
	signer, signerKey, err := p.parse()
	if err != nil {
		return pair{}, time.Time{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
	if err != nil {
		return pair{}, time.Time{}, fmt.Errorf("generate a key: %w", err)
	}
	template, err := template(random, l.commonName, now, l.validity)
	if err != nil {
		return pair{}, time.Time{}, err
	}
	template.Subject.Organization = l.organizations
	template.DNSNames = l.dnsNames
	template.IPAddresses = l.ips
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = l.usages
	if template.NotAfter.After(signer.NotAfter) {
		template.NotAfter = signer.NotAfter
	}
	der, err := x509.CreateCertificate(random, template, signer, key.Public(), signerKey)
	if err != nil {
		return pair{}, time.Time{}, fmt.Errorf("create certificate %q: %w", l.commonName, err)
	}
	issued, err := encode(der, key)
	return issued, template.NotAfter, err
}

func template(random io.Reader, commonName string, now time.Time, validity time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(random, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: commonName},
		NotBefore:             now.Add(-backdate).UTC(),
		NotAfter:              now.Add(validity).UTC(),
		BasicConstraintsValid: true,
	}, nil
}

func (p pair) parse() (*x509.Certificate, crypto.Signer, error) {
	certBlock, _ := pem.Decode(p.certificate)
	keyBlock, _ := pem.Decode(p.key)
	if certBlock == nil || keyBlock == nil {
		return nil, nil, errors.New("the authority holds no PEM data")
	}
	certificate, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("parse the authority's certificate: %w", err)
	}
	key, err := parseKey(keyBlock)
	if err != nil {
		return nil, nil, fmt.Errorf("parse the authority's key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, nil, fmt.Errorf("a key of type %T cannot sign", key)
	}
	return certificate, signer, nil
}

// parseKey reads a key in the form that its block says.
func parseKey(block *pem.Block) (any, error) {
	switch block.Type {
	case pemRSA:
		return x509.ParsePKCS1PrivateKey(block.Bytes)
	case pemEC:
		return x509.ParseECPrivateKey(block.Bytes)
	default:
		return x509.ParsePKCS8PrivateKey(block.Bytes)
	}
}

func encode(der []byte, key crypto.Signer) (pair, error) {
	block, err := encodeKey(key)
	if err != nil {
		return pair{}, err
	}
	return pair{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(block),
	}, nil
}

// encodeKey writes RSA keys in the older of their two forms, which everybody reads.
func encodeKey(key crypto.Signer) (*pem.Block, error) {
	if key, ok := key.(*rsa.PrivateKey); ok {
		return &pem.Block{Type: pemRSA, Bytes: x509.MarshalPKCS1PrivateKey(key)}, nil
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return &pem.Block{Type: "PRIVATE KEY", Bytes: der}, nil
}
