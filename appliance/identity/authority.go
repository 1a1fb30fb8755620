// SPDX-License-Identifier: Apache-2.0

package identity

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
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

const (
	authorityLifetime = 10 * 365 * 24 * time.Hour
	leafLifetime      = 365 * 24 * time.Hour
	// backdate makes certificates valid on machines whose clocks are behind.
	backdate = time.Hour
)

// Authority is a certificate authority of the garden.
type Authority struct {
	// CertFile contains the certificates that are trusted: that of the authority, and while it is changed the one before or after it.
	CertFile string
	// KeyFile contains a private key. The certificate that it belongs to is the one that signs.
	KeyFile string
	// Bundle is the content of CertFile.
	Bundle []byte
	// Cert is the certificate of the bundle with which the authority signs.
	Cert *x509.Certificate
	// Key is the private key of Cert.
	Key crypto.Signer
}

// makeAuthority writes a new authority to dir, as <name>.crt and <name>.key.
func makeAuthority(dir, name, commonName string, now time.Time) error {
	certPEM, keyPEM, err := newAuthority(commonName, now)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, name+".key"), keyPEM); err != nil {
		return err
	}

	return writeFile(filepath.Join(dir, name+".crt"), certPEM)
}

// newAuthority makes a new authority.
func newAuthority(commonName string, now time.Time) (certPEM, keyPEM []byte, err error) {
	key, keyPEM, err := makeKey()
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(authorityLifetime),
		KeyUsage:              x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, nil, fmt.Errorf("make certificate of %q: %w", commonName, err)
	}

	return encodeCert(der), keyPEM, nil
}

// loadAuthority reads an authority that makeAuthority has written. It returns an error if the authority cannot sign.
func loadAuthority(dir, name string, now time.Time) (Authority, error) {
	a := Authority{CertFile: filepath.Join(dir, name+".crt"), KeyFile: filepath.Join(dir, name+".key")}
	corrupt := func(file string, err error) (Authority, error) {
		return Authority{}, &CorruptError{File: file, Err: err, Remedy: remedyRestore}
	}
	var err error
	if a.Bundle, err = os.ReadFile(a.CertFile); err != nil {
		return corrupt(a.CertFile, withoutPath(err))
	}
	certs, err := cert.ParseCertsPEM(a.Bundle)
	if err != nil {
		return corrupt(a.CertFile, fmt.Errorf("it does not contain a certificate: %w", err))
	}
	if slices.ContainsFunc(certs, func(c *x509.Certificate) bool { return !c.IsCA }) {
		return corrupt(a.CertFile, errors.New("its certificate is not that of a certificate authority"))
	}
	keyPEM, err := readPrivate(a.KeyFile)
	if err != nil {
		return corrupt(a.KeyFile, withoutPath(err))
	}
	if a.Key, err = parseKey(keyPEM); err != nil {
		return corrupt(a.KeyFile, err)
	}
	i := slices.IndexFunc(certs, func(c *x509.Certificate) bool { return samePublicKey(c, a.Key) })
	if i < 0 {
		return corrupt(a.KeyFile, fmt.Errorf("it is not the key of the certificate in %q", a.CertFile))
	}
	a.Cert = certs[i]
	if now.After(a.Cert.NotAfter) {
		return corrupt(a.CertFile, fmt.Errorf("it expired on %s", a.Cert.NotAfter.Format(time.DateOnly)))
	}
	return a, nil
}

// makeKey generates a P-256 key. It also returns the key in PEM.
func makeKey() (crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make key: %w", err)
	}
	data, err := encodeKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, data, nil
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	data, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return data, nil
}

func parseKey(data []byte) (crypto.Signer, error) {
	key, err := keyutil.ParsePrivateKeyPEM(data)
	if err != nil {
		return nil, fmt.Errorf("it does not contain a private key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("its private key, a %T, cannot sign", key)
	}
	return signer, nil
}

// readKey reads a private key without changing the file.
func readKey(path string) (crypto.Signer, error) {
	data, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return nil, err
	}

	return parseKey(data)
}

func samePublicKey(c *x509.Certificate, key crypto.Signer) bool {
	public, ok := key.Public().(interface{ Equal(x crypto.PublicKey) bool })
	return ok && public.Equal(c.PublicKey)
}

func encodeCert(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})
}

// withoutPath removes the path of the file from an error, because the caller adds it.
func withoutPath(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
