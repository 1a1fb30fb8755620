// SPDX-License-Identifier: Apache-2.0

package pki

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
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/seedling/durable"
)

const (
	// lifetime is how long a certificate is valid; that of an authority is valid ten times as long.
	lifetime = 365 * 24 * time.Hour
	// renewAhead is how long before its expiry a certificate is renewed.
	renewAhead = 30 * 24 * time.Hour
	// clockSkew is how far apart the clocks of two machines may be.
	clockSkew = 5 * time.Minute
)

// errUnreadable says that a file does not contain what it should, as after a power failure. Such a file is replaced.
var errUnreadable = errors.New("unreadable")

// missing reports whether a file must be made (again) according to the error of reading it.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errUnreadable) }

// Folder keeps certificates and keys as files: name.crt and name.key.
type Folder struct {
	Dir string
	// Now is the time that decides what is still valid.
	Now time.Time
}

// Certificate describes a certificate.
type Certificate struct {
	// Name is the name of the files.
	Name    string
	Subject pkix.Name
	// Hosts and Addresses are the names by which clients reach a server.
	Hosts     []string
	Addresses []netip.Addr
	Usages    []x509.ExtKeyUsage
}

// Pair is a certificate with its key.
type Pair struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// CertificatePEM returns the certificate as it is in the file.
func (p Pair) CertificatePEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate.Raw})
}

// KeyPEM returns the key as it is in the file.
func (p Pair) KeyPEM() ([]byte, error) { return encodeKey(p.Key) }

// EnsureAuthority returns the authority of that name, and creates it if necessary.
func (f Folder) EnsureAuthority(name, commonName string) (Pair, error) {
	return f.ensure(Certificate{Name: name, Subject: pkix.Name{CommonName: commonName}}, nil)
}

// Ensure returns the certificate from the folder, or one that the authority signs. A certificate that expires soon, or
// that another authority has signed, is replaced.
func (f Folder) Ensure(wanted Certificate, authority Pair) (Pair, error) {
	return f.ensure(wanted, &authority)
}

func (f Folder) ensure(wanted Certificate, authority *Pair) (Pair, error) {
	existing, err := f.load(wanted.Name)
	if err != nil && !missing(err) {
		return Pair{}, err
	}
	if err == nil && f.good(existing, authority) {
		return existing, nil
	}
	made, err := f.issue(wanted, authority)
	if err != nil {
		return Pair{}, fmt.Errorf("make certificate %q: %w", wanted.Name, err)
	}
	key, err := made.KeyPEM()
	if err != nil {
		return Pair{}, err
	}
	// A key without its certificate, as after a crash in between, is replaced.
	if err := f.write(wanted.Name+".key", key, 0o600); err != nil {
		return Pair{}, err
	}
	return made, f.write(wanted.Name+".crt", made.CertificatePEM(), 0o644)
}

func (f Folder) good(existing Pair, authority *Pair) bool {
	public, known := existing.Key.Public().(interface {
		Equal(other crypto.PublicKey) bool
	})
	if !known || !public.Equal(existing.Certificate.PublicKey) || existing.Certificate.NotAfter.Before(f.Now.Add(renewAhead)) {
		return false
	}
	return authority == nil || existing.Certificate.CheckSignatureFrom(authority.Certificate) == nil
}

func (f Folder) issue(wanted Certificate, authority *Pair) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("generate key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return Pair{}, fmt.Errorf("generate serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               wanted.Subject,
		NotBefore:             f.Now.Add(-clockSkew),
		NotAfter:              f.Now.Add(lifetime),
		BasicConstraintsValid: true,
		DNSNames:              wanted.Hosts,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           wanted.Usages,
	}
	for _, address := range wanted.Addresses {
		template.IPAddresses = append(template.IPAddresses, net.IP(address.AsSlice()))
	}
	signer := Pair{Certificate: template, Key: key}
	if authority == nil {
		template.IsCA, template.NotAfter = true, f.Now.Add(10*lifetime)
		template.KeyUsage |= x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	} else {
		signer = *authority
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.Certificate, key.Public(), signer.Key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign: %w", err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, fmt.Errorf("parse: %w", err)
	}
	return Pair{Certificate: parsed, Key: key}, nil
}

// EnsureKey creates a key that signs tokens, name.key, and its public key, name.pub, unless they exist.
func (f Folder) EnsureKey(name string) error {
	_, err := f.loadKey(name)
	if err == nil || !missing(err) {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate key %q: %w", name, err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("encode key %q: %w", name, err)
	}
	private, err := encodeKey(key)
	if err != nil {
		return err
	}
	if err := f.write(name+".pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o644); err != nil {
		return err
	}
	return f.write(name+".key", private, 0o600)
}

func (f Folder) load(name string) (Pair, error) {
	certificate, err := f.read(name + ".crt")
	if err != nil {
		return Pair{}, err
	}
	parsed, err := x509.ParseCertificate(certificate)
	if err != nil {
		return Pair{}, fmt.Errorf("parse certificate %q: %w: %w", name, errUnreadable, err)
	}
	key, err := f.loadKey(name)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: parsed, Key: key}, nil
}

func (f Folder) loadKey(name string) (crypto.Signer, error) {
	der, err := f.read(name + ".key")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("parse key %q: %w: %w", name, errUnreadable, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("key %q cannot sign", name)
	}
	return signer, nil
}

func (f Folder) read(file string) ([]byte, error) {
	path := filepath.Join(f.Dir, file)
	content, err := os.ReadFile(path) //nolint:gosec // The folder belongs to the cluster.
	if err != nil {
		return nil, fmt.Errorf("read identity: %w", err)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%q is not in PEM form: %w", path, errUnreadable)
	}
	return block.Bytes, nil
}

// write replaces a file.
func (f Folder) write(file string, content []byte, mode fs.FileMode) error {
	if err := durable.Replace(filepath.Join(f.Dir, file), content, mode); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	return nil
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}
