// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/tls"
	"crypto/x509"
	"time"
)

// The methods below are those of the parts of a Garden, until all who use them call the parts.

// TokenKeys is ServiceAccountKeyring.Keys.
func (g *Garden) TokenKeys() *TokenKeys { return g.ServiceAccount.Keys() }

// WorkloadIdentityKeys is WorkloadIdentityKeyring.Keys.
func (g *Garden) WorkloadIdentityKeys() *WorkloadIdentityKeys { return g.WorkloadIdentity.Keys() }

// SignWorkloadIdentity is WorkloadIdentityKeyring.Sign.
func (g *Garden) SignWorkloadIdentity(claims any) (string, error) {
	return g.WorkloadIdentity.Sign(claims)
}

// EncryptedResources is Encryption.Resources.
func (g *Garden) EncryptedResources() (resources []string, provider string, err error) {
	return g.Encryption.Resources()
}

// EncryptsAll is Encryption.EncryptsAll.
func (g *Garden) EncryptsAll() error { return g.Encryption.EncryptsAll() }

// EncryptionFixed is Encryption.Fixed.
func (g *Garden) EncryptionFixed() error { return g.Encryption.Fixed() }

// EncryptionRotation is Encryption.Rotation.
func (g *Garden) EncryptionRotation() (*EncryptionRotation, error) { return g.Encryption.Rotation() }

// CABundle is Authorities.CABundle.
func (g *Garden) CABundle() []byte { return g.Authorities.CABundle() }

// WatchCABundle is Authorities.WatchCABundle.
func (g *Garden) WatchCABundle() ([]byte, <-chan struct{}) { return g.Authorities.WatchCABundle() }

// CAHash is Authorities.CAHash.
func (g *Garden) CAHash() string { return g.Authorities.CAHash() }

// AuthorityMarks is Authorities.Marks.
func (g *Garden) AuthorityMarks() (bundle, issuer string) { return g.Authorities.Marks() }

// ServingAuthority is Authorities.ServingAuthority.
func (g *Garden) ServingAuthority() []byte { return g.Authorities.ServingAuthority() }

// ClientSignerFile is Authorities.ClientSignerFile.
func (g *Garden) ClientSignerFile() string { return g.Authorities.ClientSignerFile() }

// AdminSession is Authorities.AdminSession.
func (g *Garden) AdminSession(now time.Time, lifetime time.Duration) (*x509.Certificate, error) {
	return g.Authorities.AdminSession(now, lifetime)
}

// AuthorityRotation is Authorities.Rotation.
func (g *Garden) AuthorityRotation() (*AuthorityRotation, error) { return g.Authorities.Rotation() }

// Renew is Certificates.Renew.
func (g *Garden) Renew(now time.Time, all bool) ([]string, error) {
	return g.Certificates.Renew(now, all)
}

// RenewalDue is Certificates.RenewalDue.
func (g *Garden) RenewalDue() time.Time { return g.Certificates.RenewalDue() }

// SetDomains is Certificates.SetDomains.
func (g *Garden) SetDomains(names []string, now time.Time) ([]string, error) {
	return g.Certificates.SetDomains(names, now)
}

// ServingCertificate is Certificates.ServingCertificate.
func (g *Garden) ServingCertificate() (*tls.Certificate, error) {
	return g.Certificates.ServingCertificate()
}

// AdminAccess is Certificates.AdminAccess.
func (g *Garden) AdminAccess(name, server string) Access {
	return g.Certificates.AdminAccess(name, server)
}

// WriteAdminKubeconfig is Certificates.WriteAdminKubeconfig.
func (g *Garden) WriteAdminKubeconfig(server string) error {
	return g.Certificates.WriteAdminKubeconfig(server)
}
