// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// Certificates are those that a garden issues to itself, and their renewal.
type Certificates struct {
	// Serving is the serving certificate of the API server. Renew replaces it and the two below: while it may run, only their files
	// may be used, which never change their paths, and AdminAccess and List.
	Serving KeyPair
	// Admin is a client certificate of AdminName in AdminGroup.
	Admin KeyPair
	// FrontProxy is the client certificate of the aggregation layer.
	FrontProxy KeyPair

	// dir is the data directory.
	dir         string
	authorities *Authorities
	// mu guards the certificates, their names and the kubeconfig with one of them. It is that of the authorities.
	mu *sync.RWMutex
	// names are those of the serving certificate: started are those that the start was given, domains those that SetDomains was.
	names   subjectNames
	started Names
	domains []string
}

// issued is a certificate that the garden issues to itself: what it says, who signs it and where it is kept.
type issued struct {
	leaf leaf
	ca   *Authority
	pair *KeyPair
}

// issues lists the certificates that the garden issues to itself.
func (c *Certificates) issues() []issued {
	return []issued{
		{leaf{
			file: servingFile, subject: pkix.Name{CommonName: servingCommonName}, usage: x509.ExtKeyUsageServerAuth, names: c.names,
		}, &c.authorities.Server, &c.Serving},
		{leaf{
			file: adminFile, subject: pkix.Name{CommonName: AdminName, Organization: []string{AdminGroup}}, usage: x509.ExtKeyUsageClientAuth,
		}, &c.authorities.Client, &c.Admin},
		{leaf{
			file: frontProxyFile, subject: pkix.Name{CommonName: FrontProxyName}, usage: x509.ExtKeyUsageClientAuth,
		}, &c.authorities.FrontProxy, &c.FrontProxy},
	}
}

// issue renews the certificates that are due or do not fit, or all. It returns the names of the new ones.
func (c *Certificates) issue(now time.Time, all bool) ([]string, error) {
	pki := filepath.Join(c.dir, pkiDir)
	var renewed []string
	for _, of := range c.issues() {
		ensure := ensureLeaf
		if all {
			ensure = func(dir string, ca Authority, l leaf, now time.Time) (KeyPair, error) {
				return issueLeaf(filepath.Join(dir, l.file), ca, l, now)
			}
		}
		pair, err := ensure(pki, *of.ca, of.leaf, now)
		if err != nil {
			return renewed, err
		}
		if of.pair.Cert == nil || !of.pair.Cert.Equal(pair.Cert) {
			renewed = append(renewed, leafName(of.leaf.file))
		}
		*of.pair = pair
	}

	return renewed, nil
}

// Renew renews the certificates that are due, or all, and returns the names of the new ones. What was issued before stays valid
// until it expires. It may be called while the garden runs: the API server takes up new files without closing connections.
func (c *Certificates) Renew(now time.Time, all bool) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.issue(now, all)
}

// RenewalDue returns when the next certificate is due.
func (c *Certificates) RenewalDue() time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var next time.Time
	for _, of := range c.issues() {
		if due := renewalDue(of.pair.Cert); next.IsZero() || due.Before(next) {
			next = due
		}
	}

	return next
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

// List returns the certificates of the garden: those that it renews by itself, and its authorities.
func (c *Certificates) List() []Certificate {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []Certificate
	for _, of := range c.issues() {
		is := of.pair.Cert
		all = append(all, Certificate{Name: leafName(of.leaf.file), NotBefore: is.NotBefore, NotAfter: is.NotAfter})
	}
	for _, a := range []Authority{c.authorities.Server, c.authorities.Client, c.authorities.FrontProxy} {
		all = append(all, Certificate{
			Name: leafName(filepath.Base(a.CertFile)), NotBefore: a.Cert.NotBefore, NotAfter: a.Cert.NotAfter, Authority: true,
		})
	}

	return all
}

// ServingCertificate returns the serving certificate as it is now.
func (c *Certificates) ServingCertificate() (*tls.Certificate, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	pair, err := tls.X509KeyPair(c.Serving.CertPEM, c.Serving.KeyPEM)
	if err != nil {
		return nil, fmt.Errorf("read serving certificate: %w", err)
	}

	return &pair, nil
}
