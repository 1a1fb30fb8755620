// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Keys of the data of the Secret of a certificate. That of an authority has ca.crt and ca.key, that of its bundle has bundle.crt.
const (
	DataKeyCertificate = corev1.TLSCertKey
	DataKeyPrivateKey  = corev1.TLSPrivateKeyKey
)

// Certificate is a certificate with its key.
type Certificate struct {
	// SecretName is the name of the Secret that holds both.
	SecretName string
	// Certificate and Key are in PEM.
	Certificate []byte
	Key         []byte
}

// CA is a certificate authority. Current signs, Bundle verifies.
type CA struct {
	Current Certificate
	Bundle  Bundle

	// old is the authority before, until the rotation completes.
	old *Certificate
}

// signer is the authority that signs certificates of that usage. Clients get new certificates at once, since every server
// trusts both authorities by then. Servers keep those of the old authority as long as there may be clients that do not trust
// the new one yet (GLET-SEC-5).
func (c *CA) signer(spec CertificateSpec) *Certificate {
	if c.old != nil && (spec.Usage != UsageClient || spec.ServersComeLater) {
		return c.old
	}
	return &c.Current
}

// CA returns the authority of that name. It is valid for ten years and only a rotation replaces it. The key of the authority
// for clients leaves the seed: the garden signs with it, and other implementations of the garden only read RSA keys.
func (m *Manager) CA(ctx context.Context, name string) (*CA, error) {
	newKey := newECDSA
	if name == gardencorev1beta1.SecretCAClient {
		newKey = func() (crypto.Signer, error) { return newRSA(authorityRSABits) }
	}
	w := authorityWish(name, authorityValidity, newKey)
	w.adopt = adoptAuthority
	found, err := m.obtainRotated(ctx, w, m.config.Rotations.Authorities)
	if err != nil {
		return nil, err
	}
	return m.authority(ctx, name, found)
}

// authorityWish describes an authority that signs itself.
func authorityWish(name string, validity time.Duration, newKey func() (crypto.Signer, error)) wish {
	commonName := name
	if name == gardencorev1beta1.SecretCACluster {
		commonName = "kubernetes"
	}
	return wish{
		name: name, config: map[string]string{"commonName": commonName}, plain: true,
		generate: func(now time.Time) (map[string][]byte, time.Time, error) {
			key, err := newKey()
			if err != nil {
				return nil, time.Time{}, err
			}
			template := &x509.Certificate{
				Subject: pkix.Name{CommonName: commonName}, IsCA: true, NotAfter: now.Add(validity).UTC(),
				KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
			}
			made, until, err := issuer{certificate: template, key: key}.issue(template, key, now)
			if err != nil {
				return nil, time.Time{}, err
			}
			return map[string][]byte{
				gardencorev1beta1.DataKeyCertificateCA: made.Certificate,
				gardencorev1beta1.DataKeyPrivateKeyCA:  made.Key,
			}, until, nil
		},
	}
}

// authority reads the secrets of an authority, and keeps the bundle of those that are trusted.
func (m *Manager) authority(ctx context.Context, name string, found rotated) (*CA, error) {
	current, err := authorityOf(found.current)
	if err != nil {
		return nil, err
	}
	ca, trusted := &CA{Current: *current}, [][]byte{current.Certificate}
	if found.old != nil {
		if ca.old, err = authorityOf(found.old); err != nil {
			return nil, err
		}
		trusted = append(trusted, ca.old.Certificate)
	}
	ca.Bundle, err = m.bundle(ctx, name, gardencorev1beta1.DataKeyCertificateBundle, trusted...)
	return ca, err
}

func authorityOf(secret *corev1.Secret) (*Certificate, error) {
	a := &Certificate{
		SecretName:  secret.Name,
		Certificate: secret.Data[gardencorev1beta1.DataKeyCertificateCA],
		Key:         secret.Data[gardencorev1beta1.DataKeyPrivateKeyCA],
	}
	if len(a.Certificate) == 0 || len(a.Key) == 0 {
		return nil, fmt.Errorf("secret %q is incomplete: it holds no ca.crt or no ca.key", secret.Name)
	}
	return a, nil
}

// Usage is what a certificate may be used for.
type Usage string

const (
	// UsageClient is for certificates that identify a client.
	UsageClient Usage = "client"
	// UsageServer is for certificates that identify a server.
	UsageServer Usage = "server"
	// UsagePeer is for certificates that do both.
	UsagePeer Usage = "peer"
)

// CertificateSpec says what a certificate has to contain.
type CertificateSpec struct {
	// Name is the logical name.
	Name string
	// CA signs the certificate.
	CA *CA
	// Usage is what the certificate is for.
	Usage Usage
	// ServersComeLater is set for a client whose servers do not trust a new authority from the beginning, such as machines: as long as
	// there is an old one, that signs.
	ServersComeLater bool
	// CommonName is the user of a client certificate.
	CommonName string
	// Organizations are the groups of a client certificate.
	Organizations []string
	// DNSNames and IPs are the names and addresses of a server. Their order does not matter.
	DNSNames []string
	IPs      []string
	// Validity is a year if it is not set.
	Validity time.Duration
}

// Certificate returns a certificate as specified: that of an earlier run, or a new one if there is none, if the
// specification has changed, or if it has to be renewed.
func (m *Manager) Certificate(ctx context.Context, spec CertificateSpec) (*Certificate, error) {
	if spec.Validity <= 0 {
		spec.Validity = certificateValidity
	}
	if _, err := spec.template(); err != nil {
		return nil, fmt.Errorf("certificate %q: %w", spec.Name, err)
	}
	signer := spec.CA.signer(spec)
	secret, err := m.obtain(ctx, wish{
		name: spec.Name, config: spec.fingerprint(), signer: shortHash(string(signer.Certificate)),
		generate: func(now time.Time) (map[string][]byte, time.Time, error) {
			made, until, err := spec.sign(signer, now)
			if err != nil {
				return nil, time.Time{}, err
			}
			return map[string][]byte{DataKeyCertificate: made.Certificate, DataKeyPrivateKey: made.Key}, until, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return &Certificate{SecretName: secret.Name, Certificate: secret.Data[DataKeyCertificate], Key: secret.Data[DataKeyPrivateKey]}, nil
}

// SignClient signs a certificate for a client that is kept nowhere. The CA and the usage of the specification stay empty.
func SignClient(authority *Certificate, spec CertificateSpec, now time.Time) (*Certificate, error) {
	spec.Usage = UsageClient
	certificate, _, err := spec.sign(authority, now)

	return certificate, err
}

// sign makes a key and signs a certificate for it. It returns the end of its validity too.
func (s CertificateSpec) sign(signer *Certificate, now time.Time) (*Certificate, time.Time, error) {
	template, err := s.template()
	if err != nil {
		return nil, time.Time{}, err
	}
	by, err := issuerOf(signer)
	if err != nil {
		return nil, time.Time{}, err
	}
	key, err := newECDSA()
	if err != nil {
		return nil, time.Time{}, err
	}
	template.NotAfter = now.Add(s.Validity).UTC()

	return by.issue(template, key, now)
}

// fingerprint is everything that distinguishes one certificate from another.
func (s CertificateSpec) fingerprint() any {
	return map[string]any{
		"usage":         s.Usage,
		"commonName":    s.CommonName,
		"organizations": sortedCopy(s.Organizations),
		"dnsNames":      sortedCopy(s.DNSNames),
		"ips":           sortedCopy(s.IPs),
		"validity":      s.Validity,
	}
}

// template is the certificate without its times.
func (s CertificateSpec) template() (*x509.Certificate, error) {
	c := &x509.Certificate{
		Subject:  pkix.Name{CommonName: s.CommonName, Organization: s.Organizations},
		DNSNames: sortedCopy(s.DNSNames), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	switch s.Usage {
	case UsageClient:
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	case UsageServer:
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	case UsagePeer:
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	default:
		return nil, fmt.Errorf("unknown usage %q", s.Usage)
	}
	for _, text := range sortedCopy(s.IPs) {
		ip := net.ParseIP(text)
		if ip == nil {
			return nil, fmt.Errorf("%q is not an IP address", text)
		}
		c.IPAddresses = append(c.IPAddresses, ip)
	}
	return c, nil
}

func sortedCopy(in []string) []string {
	out := slices.Clone(in)
	slices.Sort(out)
	return slices.Compact(out)
}
