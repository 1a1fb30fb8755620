// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// KeyPair is a certificate of the garden with its key.
type KeyPair struct {
	// File contains both certificate and key, so it can be used as the file of either.
	File string
	// CertPEM is the certificate.
	CertPEM []byte
	// KeyPEM is the private key.
	KeyPEM []byte
	// Cert is the certificate.
	Cert *x509.Certificate
}

// leaf describes a certificate.
type leaf struct {
	file    string // name in the pki directory
	subject pkix.Name
	usage   x509.ExtKeyUsage
	names   subjectNames
}

// ensureLeaf returns the certificate in dir if it matches l and its renewal is not due. Otherwise it issues a new one.
func ensureLeaf(dir string, ca Authority, l leaf, now time.Time) (KeyPair, error) {
	path := filepath.Join(dir, l.file)
	data, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return issueLeaf(path, ca, l, now)
	}
	if err != nil {
		return KeyPair{}, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedyReissue}
	}
	pair, err := parseKeyPair(path, data)
	if err != nil {
		return KeyPair{}, &CorruptError{File: path, Err: err, Remedy: remedyReissue}
	}
	if !l.fits(ca, pair.Cert, now) {
		return issueLeaf(path, ca, l, now)
	}
	return pair, nil
}

func parseKeyPair(path string, data []byte) (KeyPair, error) {
	pair, err := tls.X509KeyPair(data, data)
	if err != nil {
		return KeyPair{}, err
	}
	key, err := parseKey(data)
	if err != nil {
		return KeyPair{}, err
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return KeyPair{}, err
	}
	return KeyPair{File: path, CertPEM: encodeCert(pair.Leaf.Raw), KeyPEM: keyPEM, Cert: pair.Leaf}, nil
}

// fits reports whether c matches l, is signed by ca and need not be renewed yet.
func (l leaf) fits(ca Authority, c *x509.Certificate, now time.Time) bool {
	roots := x509.NewCertPool()
	roots.AddCert(ca.Cert)
	_, err := c.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{l.usage}})
	return err == nil &&
		(now.Before(renewalDue(c)) || !c.NotAfter.Before(ca.Cert.NotAfter)) &&
		c.Subject.CommonName == l.subject.CommonName &&
		slices.Equal(c.Subject.Organization, l.subject.Organization) &&
		l.names.match(c)
}

func issueLeaf(path string, ca Authority, l leaf, now time.Time) (KeyPair, error) {
	key, keyPEM, err := makeKey()
	if err != nil {
		return KeyPair{}, err
	}
	template := &x509.Certificate{
		Subject:               l.subject,
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(leafLifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{l.usage},
		BasicConstraintsValid: true,
		DNSNames:              l.names.dns,
		IPAddresses:           l.names.netIPs(),
	}
	if template.NotAfter.After(ca.Cert.NotAfter) {
		template.NotAfter = ca.Cert.NotAfter
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.Cert, key.Public(), ca.Key)
	if err != nil {
		return KeyPair{}, fmt.Errorf("issue certificate %q: %w", l.subject.CommonName, err)
	}
	certs, err := x509.ParseCertificates(der)
	if err != nil {
		return KeyPair{}, fmt.Errorf("read certificate %q: %w", l.subject.CommonName, err)
	}
	pair := KeyPair{File: path, CertPEM: encodeCert(der), KeyPEM: keyPEM, Cert: certs[0]}
	if err := writeFile(path, slices.Concat(pair.CertPEM, pair.KeyPEM)); err != nil {
		return KeyPair{}, err
	}
	return pair, nil
}
