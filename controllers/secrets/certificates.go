// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Keys of the data of a certificate's secret. An authority has ca.crt and ca.key, its bundle has bundle.crt.
const (
	DataKeyCertificate = corev1.TLSCertKey
	DataKeyPrivateKey  = corev1.TLSPrivateKeyKey
)

// CA is a certificate authority: who signs with it takes Current, who trusts it takes Bundle.
type CA struct {
	Current Authority
	Bundle  Bundle

	// old is the authority before, until the rotation completes.
	old *Authority
}

// Authority is one generation of a certificate authority.
type Authority struct {
	// SecretName is the name of the Secret with ca.crt and ca.key.
	SecretName string
	// Certificate and Key are in PEM.
	Certificate []byte
	Key         []byte
}

// signer is the authority that signs certificates of that usage. Clients get new certificates at once, since every server
// trusts both authorities by then. Servers keep those of the old authority as long as there may be clients that do not trust
// the new one yet (GLET-SEC-5).
func (c *CA) signer(usage Usage) *Authority {
	if c.old != nil && usage != UsageClient {
		return c.old
	}
	return &c.Current
}

// CA returns the authority of that name. It is valid for ten years and is replaced by a rotation only. The key of the
// authority for clients leaves the seed: the garden signs with it, and gardens of other makes know RSA keys only.
func (m *Manager) CA(ctx context.Context, name string) (*CA, error) {
	commonName := "kubernetes"
	if name != gardencorev1beta1.SecretCACluster {
		commonName = name
	}
	key := newECDSA
	if name == gardencorev1beta1.SecretCAClient {
		key = newRSA
	}
	found, err := m.obtainRotated(ctx, wish{
		name: name, config: map[string]string{"commonName": commonName}, plain: true, persist: true,
		generate: func(now time.Time) (map[string][]byte, time.Time, error) {
			p, until, err := newAuthority(m.config.Random, key, commonName, now)
			return map[string][]byte{
				gardencorev1beta1.DataKeyCertificateCA: p.certificate,
				gardencorev1beta1.DataKeyPrivateKeyCA:  p.key,
			}, until, err
		},
	}, m.config.Rotations.Authorities)
	if err != nil {
		return nil, err
	}
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

func authorityOf(secret *corev1.Secret) (*Authority, error) {
	a := &Authority{
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
	// CA signs.
	CA *CA
	// Usage tells what for.
	Usage Usage
	// CommonName is the user of a client certificate.
	CommonName string
	// Organizations are the groups of a client certificate.
	Organizations []string
	// DNSNames and IPs are what a server certificate stands for. Their order does not matter.
	DNSNames []string
	IPs      []string
	// Validity is a year if unset.
	Validity time.Duration
}

// Certificate is a certificate with its key.
type Certificate struct {
	// SecretName is the name of the Secret with tls.crt and tls.key.
	SecretName string
	// Certificate and Key are in PEM.
	Certificate []byte
	Key         []byte
}

// Certificate returns a certificate as specified: one of an earlier run, or a new one if there is none, if it said
// something else, or if its end comes near.
func (m *Manager) Certificate(ctx context.Context, spec CertificateSpec) (*Certificate, error) {
	l, err := spec.leaf()
	if err != nil {
		return nil, fmt.Errorf("certificate %q: %w", spec.Name, err)
	}
	signer := spec.CA.signer(spec.Usage)
	secret, err := m.obtain(ctx, wish{
		name: spec.Name, config: spec.fingerprint(), signer: shortHash(string(signer.Certificate)),
		generate: func(now time.Time) (map[string][]byte, time.Time, error) {
			p, until, err := pair{certificate: signer.Certificate, key: signer.Key}.issue(m.config.Random, l, now)
			return map[string][]byte{DataKeyCertificate: p.certificate, DataKeyPrivateKey: p.key}, until, err
		},
	})
	if err != nil {
		return nil, err
	}
	return &Certificate{SecretName: secret.Name, Certificate: secret.Data[DataKeyCertificate], Key: secret.Data[DataKeyPrivateKey]}, nil
}

// fingerprint is everything that makes one certificate another one.
func (s CertificateSpec) fingerprint() any {
	return map[string]any{
		"usage":         s.Usage,
		"commonName":    s.CommonName,
		"organizations": sortedCopy(s.Organizations),
		"dnsNames":      sortedCopy(s.DNSNames),
		"ips":           sortedCopy(s.IPs),
		"validity":      s.validity(),
	}
}

func (s CertificateSpec) validity() time.Duration {
	if s.Validity <= 0 {
		return certificateValidity
	}
	return s.Validity
}

func (s CertificateSpec) leaf() (leaf, error) {
	l := leaf{
		commonName:    s.CommonName,
		organizations: s.Organizations,
		dnsNames:      sortedCopy(s.DNSNames),
		validity:      s.validity(),
	}
	switch s.Usage {
	case UsageClient:
		l.usages = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	case UsageServer:
		l.usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	case UsagePeer:
		l.usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	default:
		return leaf{}, fmt.Errorf("unknown usage %q", s.Usage)
	}
	for _, text := range sortedCopy(s.IPs) {
		ip := net.ParseIP(text)
		if ip == nil {
			return leaf{}, fmt.Errorf("%q is no IP address", text)
		}
		l.ips = append(l.ips, ip)
	}
	return l, nil
}

func sortedCopy(in []string) []string {
	out := slices.Clone(in)
	slices.Sort(out)
	return slices.Compact(out)
}
