// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
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

func newAuthority(random io.Reader, commonName string, now time.Time) (pair, time.Time, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), random)
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
	key, err := x509.ParsePKCS8PrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("parse the authority's key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, nil, fmt.Errorf("a key of type %T cannot sign", key)
	}
	return certificate, signer, nil
}

func encode(der []byte, key crypto.Signer) (pair, error) {
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, fmt.Errorf("encode a key: %w", err)
	}
	return pair{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, nil
}
